/** Channels with their names, members and webhooks, as one aggregate. Stream `chat.channels-main`. */

import {
  type Decider,
  decideByType,
  type Evolve,
  fitName,
  lengthOf,
  notBefore,
  PersistentMap,
  type Rejection,
  rejection,
} from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import { badLength, type Counts, countMembers, exceedsMemberLimit, noCounts, tooManyMembers } from './limits.js';
import { claimKey, nameKey, releaseKey } from './names.js';
import {
  decideWebhook,
  evolveWebhooks,
  noWebhooks,
  type WebhookCommand,
  type Webhooks,
  withoutChannel,
} from './webhooks.js';

export interface Channel {
  readonly id: string;
  readonly number: number;
  readonly name: string;
  readonly topic: string;
  readonly isPrivate: boolean;
  readonly createdBy: string;
  readonly members: readonly string[];
  readonly createdAt: number;
  readonly updatedAt?: number;
}

export interface ChannelsState {
  readonly made: number;
  readonly channels: PersistentMap<Channel>;
  /** Channel ids by case-insensitive name key. */
  readonly names: PersistentMap<string>;
  /** Deleted channels that are still being erased. */
  readonly ending: PersistentMap<true>;
  /** By creator, and of all channels. */
  readonly memberships: Counts;
  readonly webhooks: Webhooks;
}

export interface Requester {
  readonly userId: string;
  readonly isAdmin: boolean;
}

export type ChannelsCommand =
  | {
      type: 'CreateChannel';
      channelId: string;
      by: string;
      /** Exempts the creator from the limit per user; the limit of all channels still applies. */
      asAdmin?: boolean;
      name: string;
      topic?: string | undefined;
      isPrivate: boolean;
      /** Ids of existing users. */
      members: readonly string[];
      now: number;
      /** Applies only if no channel has ever existed. */
      first?: true;
    }
  | {
      type: 'UpdateChannel';
      channelId: string;
      by: Requester;
      name?: string | undefined;
      topic?: string | undefined;
      isPrivate?: boolean | undefined;
      /** The new list; ids of existing users. */
      members?: readonly string[] | undefined;
      now: number;
    }
  | { type: 'DeleteChannel'; channelId: string; by: Requester; now: number }
  | { type: 'EraseChannel'; channelId: string; now: number }
  | WebhookCommand;

export type ChannelsEvent = ChatEvent<
  'ChannelCreated' | 'ChannelUpdated' | 'ChannelDeleted' | 'ChannelErased' | 'WebhookCreated' | 'WebhookDeleted'
>;

export const CHANNELS = 'chat.channels-main';
const CHANNEL_NAME_LENGTH = 80;
const TOPIC_LENGTH = 500;

const initialState: ChannelsState = {
  made: 0,
  channels: PersistentMap.empty(),
  names: PersistentMap.empty(),
  ending: PersistentMap.empty(),
  memberships: noCounts,
  webhooks: noWebhooks,
};

export const channelNotFound = rejection('chat/channel-not-found', 'not-found', 'Channel not found');
const notYours = rejection(
  'chat/not-your-channel',
  'forbidden',
  'Only the creator or an admin may change this channel',
);
const nameTaken = rejection('chat/channel-exists', 'invalid', 'A channel with this name already exists');
const badName = badLength('chat/bad-channel-name', 'name', CHANNEL_NAME_LENGTH);
const badTopic = rejection('chat/bad-topic', 'invalid', `topic must be at most ${TOPIC_LENGTH} characters`);
/** Admins see all channels. Others must not learn that a private channel exists unless they are members. */
export const canSee = (
  { isPrivate, members }: Pick<Channel, 'isPrivate' | 'members'>,
  { userId, isAdmin }: Requester,
): boolean => !isPrivate || isAdmin || members.includes(userId);

export function channelFor({ channels }: ChannelsState, channelId: string, by: Requester): Channel | undefined {
  const channel = channels.get(channelId);
  return channel && canSee(channel, by) ? channel : undefined;
}

export const channelsFor = ({ channels }: ChannelsState, by: Requester): Channel[] =>
  [...channels.values()].filter((each) => canSee(each, by)).sort((a, b) => a.number - b.number);

/** Normalizes a name and checks that it is valid and free; `own` is the channel that has it now. */
function validateName({ names }: ChannelsState, rawName: string, own?: string): { name: string } | Rejection {
  const name = fitName(rawName, CHANNEL_NAME_LENGTH);
  if (name === undefined) return badName;
  const holder = names.get(nameKey(name));
  return holder !== undefined && holder !== own ? nameTaken : { name };
}

function authorizeChange(state: ChannelsState, channelId: string, by: Requester): Channel | Rejection {
  const channel = channelFor(state, channelId, by);
  if (!channel) return channelNotFound;
  return by.isAdmin || channel.createdBy === by.userId ? channel : notYours;
}

const decide = decideByType<ChannelsState, ChannelsCommand, ChannelsEvent>({
  CreateChannel(command, state) {
    const { channelId, by, asAdmin = false, topic = '', isPrivate, now, first } = command;
    if (first && state.made > 0) return [];
    const validName = validateName(state, command.name);
    if ('rejected' in validName) return validName;
    if (lengthOf(topic) > TOPIC_LENGTH) return badTopic;
    const members = [...new Set([by, ...command.members])];
    if (exceedsMemberLimit(state.memberships, undefined, { createdBy: by, members }, asAdmin)) return tooManyMembers;
    const secret = { name: validName.name, ...(topic && { topic }) };
    return [{ type: 'ChannelCreated', data: { channelId, createdBy: by, createdAt: now, isPrivate, members, secret } }];
  },
  UpdateChannel(command, state) {
    const { channelId, by, now } = command;
    const channel = authorizeChange(state, channelId, by);
    if ('rejected' in channel) return channel;
    const { name = channel.name, topic = channel.topic, isPrivate = channel.isPrivate } = command;
    // An unchanged name stays valid, even if it now counts as equal to another channel's.
    const validName = name === channel.name ? { name } : validateName(state, name, channelId);
    if ('rejected' in validName) return validName;
    if (lengthOf(topic) > TOPIC_LENGTH) return badTopic;
    const newMembers = new Set([channel.createdBy, ...(command.members ?? channel.members)]);
    const proposed = { createdBy: channel.createdBy, members: [...newMembers] };
    if (exceedsMemberLimit(state.memberships, channel, proposed, by.isAdmin)) return tooManyMembers;
    const members = new Set(channel.members);
    const joined = [...newMembers].filter((each) => !members.has(each));
    const left = channel.members.filter((each) => !newMembers.has(each));
    const secret = {
      ...(validName.name !== channel.name && { name: validName.name }),
      ...(topic !== channel.topic && { topic }),
    };
    const kind = isPrivate === channel.isPrivate ? {} : { isPrivate };
    if (joined.length + left.length + Object.keys({ ...secret, ...kind }).length === 0) return [];
    const updatedAt = notBefore(now, channel.createdAt, channel.updatedAt);
    return [{ type: 'ChannelUpdated', data: { channelId, by: by.userId, updatedAt, joined, left, ...kind, secret } }];
  },
  DeleteChannel({ channelId, by, now }, state) {
    const channel = authorizeChange(state, channelId, by);
    if ('rejected' in channel) return channel;
    return [{ type: 'ChannelDeleted', data: { channelId, by: by.userId, deletedAt: now } }];
  },
  EraseChannel: ({ channelId, now }, { ending }) =>
    ending.has(channelId) ? [{ type: 'ChannelErased', data: { channelId, erasedAt: now } }] : [],
  CreateWebhook: (command, { channels, webhooks }) =>
    channels.has(command.channelId) ? decideWebhook(command, webhooks) : channelNotFound,
  DeleteWebhook: (command, { webhooks }) => decideWebhook(command, webhooks),
});

export const withChannel = (state: ChannelsState, channel: Channel): ChannelsState => ({
  ...state,
  channels: state.channels.set(channel.id, channel),
  names: claimKey(state.names, nameKey(channel.name), channel.id),
  memberships: countMembers(state.memberships, state.channels.get(channel.id), channel),
});

const evolve: Evolve<ChannelsState, ChannelsEvent> = {
  ChannelCreated(state, { channelId: id, createdBy, createdAt, isPrivate, members, secret }) {
    const { name, topic = '' } = secret as { name: string; topic?: string };
    const number = state.made;
    const channel = { id, number, name, topic, isPrivate, createdBy, members, createdAt };
    return { ...withChannel(state, channel), made: number + 1 };
  },
  ChannelUpdated(state, { channelId: id, updatedAt, isPrivate, joined, left, secret }) {
    const channel = state.channels.get(id);
    if (!channel) return state;
    const { name, topic } = secret as { name?: string; topic?: string };
    const departed = new Set(left);
    const members = [...channel.members.filter((each) => !departed.has(each)), ...joined];
    const changed = {
      ...channel,
      updatedAt,
      members: joined.length + left.length > 0 ? members : channel.members,
      ...(isPrivate !== undefined && { isPrivate }),
      ...(name !== undefined && { name }),
      ...(topic !== undefined && { topic }),
    };
    return withChannel({ ...state, names: releaseKey(state.names, nameKey(channel.name), id) }, changed);
  },
  ChannelDeleted(state, { channelId: id }) {
    const channel = state.channels.get(id);
    if (!channel) return state;
    return {
      ...state,
      channels: state.channels.delete(id),
      names: releaseKey(state.names, nameKey(channel.name), id),
      ending: state.ending.set(id, true),
      memberships: countMembers(state.memberships, channel, undefined),
      webhooks: withoutChannel(state.webhooks, id),
    };
  },
  ChannelErased: (state, { channelId }) => ({ ...state, ending: state.ending.delete(channelId) }),
  WebhookCreated: (state, data) => ({
    ...state,
    webhooks: evolveWebhooks.WebhookCreated(state.webhooks, data),
  }),
  WebhookDeleted: (state, data) => ({
    ...state,
    webhooks: evolveWebhooks.WebhookDeleted(state.webhooks, data),
  }),
};

export const channels: Decider<ChannelsState, ChannelsCommand, ChannelsEvent> = {
  initialState,
  decide,
  evolve,
};
