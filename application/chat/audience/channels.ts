/** Delivers channel and webhook events; users who gain or lose access see the channel appear or disappear. */
import { type Channel, type ChannelsEvent, canSee, channels, channelsFor } from '../../../domain/chat/channels.js';
import { userById } from '../../../domain/chat/roster.js';
import { evolveOf } from '../../../domain/shared/index.js';
import type { RevealedEvent } from '../../ports/index.js';
import { type Audience, advance, type Delivery } from '../../subscription/index.js';
import { channelView } from '../channels/channels.js';
import { type ChatState, EVERYBODY, userKey } from './state.js';

type Routing = Audience<ChatState, ChannelsEvent>['on'];

const fold = evolveOf(channels);
const evolve = (state: ChatState, event: RevealedEvent<ChannelsEvent>): ChatState => ({
  ...state,
  channels: fold(state.channels, event),
  reached: advance(state.reached, event),
});

/** Keys of the users who may see a channel; undefined for everyone. */
function viewersOf({ admins }: ChatState, channel: Channel | undefined): readonly string[] | undefined {
  if (!channel) return [];
  return channel.isPrivate ? [...new Set([...channel.members, ...admins])].map(userKey) : undefined;
}

/** Addresses everyone who may see the channel now; no one when it does not exist. */
export const toViewers = (state: ChatState, channelId: string): Pick<Delivery, 'to' | 'resource'> => ({
  to: viewersOf(state, state.channels.channels.get(channelId)) ?? [EVERYBODY],
  resource: channelId,
});

const channelMessage = (state: ChatState, type: 'NEW_CHANNEL' | 'UPDATE_CHANNEL', channel: Channel) => ({
  type,
  payload: channelView(state.roster, channel),
});
const deletionMessage = ({ id, name }: Channel) => ({ type: 'DELETE_CHANNEL', payload: { id, name } });

function deliverChange(
  { data: { channelId } }: RevealedEvent<ChannelsEvent>,
  after: ChatState,
  before: ChatState,
): readonly Delivery[] {
  const [was, is] = [before.channels.channels.get(channelId), after.channels.channels.get(channelId)];
  const [saw, see] = [viewersOf(before, was), viewersOf(after, is)];
  const deliveries: Delivery[] = [];
  const resource = channelId;
  if (is) {
    if (was)
      deliveries.push({ ...intersect(saw, see), resource, message: channelMessage(after, 'UPDATE_CHANNEL', is) });
    deliveries.push({ ...subtract(see, saw), resource, message: channelMessage(after, 'NEW_CHANNEL', is) });
  }
  if (was) deliveries.push({ ...subtract(saw, see), resource, message: deletionMessage(was), erases: !is });
  return deliveries.filter(({ to }) => to.length > 0);
}

type Keys = readonly string[] | undefined;

function intersect(a: Keys, b: Keys): Pick<Delivery, 'to'> {
  if (!a || !b) return { to: a ?? b ?? [EVERYBODY] };
  const others = new Set(b);
  return { to: a.filter((key) => others.has(key)) };
}

function subtract(these: Keys, others: Keys): Pick<Delivery, 'to' | 'except'> {
  if (!others) return { to: [] };
  if (!these) return { to: [EVERYBODY], except: others };
  const excluded = new Set(others);
  return { to: these.filter((key) => !excluded.has(key)) };
}

const deliverWebhook = (state: ChatState, channelId: string, type: string, payload: object): readonly Delivery[] =>
  [{ ...toViewers(state, channelId), message: { type, payload } }].filter(({ to }) => to.length > 0);

export const channelsOn: Routing = {
  ChannelCreated: { evolve, deliver: deliverChange },
  ChannelUpdated: { evolve, deliver: deliverChange },
  ChannelDeleted: { evolve, deliver: deliverChange },
  ChannelErased: { evolve },
  WebhookCreated: {
    evolve,
    deliver({ data: { webhookId: id, channelId, createdAt, createdBy, secret }, erased }, state) {
      const payload = { id, name: secret.name, channelId, createdAt, createdBy };
      return erased ? [] : deliverWebhook(state, channelId, 'NEW_WEBHOOK', payload);
    },
  },
  WebhookDeleted: {
    evolve,
    deliver: ({ data: { webhookId: id, channelId } }, state) =>
      deliverWebhook(state, channelId, 'DELETE_WEBHOOK', { id, channelId }),
  },
};

/** Shows all private channels to a new admin, and hides them from a former one. */
export function deliverRoleVisibility(userId: string, after: ChatState, before: ChatState): readonly Delivery[] {
  const is = { userId, isAdmin: userById(after.roster, userId)?.isAdmin ?? false };
  const was = { userId, isAdmin: userById(before.roster, userId)?.isAdmin ?? false };
  if (is.isAdmin === was.isAdmin) return [];
  const all = channelsFor(after.channels, { userId, isAdmin: true });
  const privateChannels = all.filter((each) => !canSee(each, { userId, isAdmin: false }));
  return privateChannels.map((channel) => ({
    to: [userKey(userId)],
    resource: channel.id,
    message: is.isAdmin ? channelMessage(after, 'NEW_CHANNEL', channel) : deletionMessage(channel),
  }));
}

/** Whether a missed delivery may still be sent: the user must see its channel now. */
export function isEntitled({ resource, message }: Delivery, now: ChatState, userId: string): boolean {
  if (resource === undefined || message.type === 'DELETE_CHANNEL') return true;
  const channel = now.channels.channels.get(resource);
  const isAdmin = userById(now.roster, userId)?.isAdmin ?? false;
  return channel !== undefined && canSee(channel, { userId, isAdmin });
}
