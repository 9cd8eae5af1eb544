/** Delivers user events to everyone; new and former admins see private channels appear or disappear. */
import { type Channel, canSee, channelsFor } from '../../../domain/chat/channels.js';
import { type RosterEvent, roster, type User, userById } from '../../../domain/chat/roster.js';
import { evolveOf } from '../../../domain/shared/index.js';
import type { RevealedEvent } from '../../ports/index.js';
import { type Audience, advance, type Delivery, type EventRouting } from '../../subscription/index.js';
import { channelView } from '../channels/channels.js';
import { userView } from '../people/users.js';
import { type ChatState, EVERYBODY, userKey } from './state.js';

type Routing = Audience<ChatState, RosterEvent>['on'];

const fold = evolveOf(roster);

function evolve<Event extends RosterEvent>(before: ChatState, event: RevealedEvent<Event>): ChatState {
  const roster = fold(before.roster, event);
  const state = { ...before, roster, reached: advance(before.reached, event) };
  const { userId } = event.data;
  const isAdmin = userById(roster, userId)?.isAdmin ?? false;
  if (isAdmin === state.admins.includes(userId)) return state;
  const others = state.admins.filter((each) => each !== userId);
  return { ...state, admins: isAdmin ? [...others, userId].sort() : others };
}

const broadcast = (type: string, payload: object): readonly Delivery[] => [
  { to: [EVERYBODY], message: { type, payload } },
];

/** Routes an event about a user, unless the user was erased. */
const routeUserEvent = <Event extends RosterEvent>(
  type: string,
  payloadOf: (user: User) => object,
): EventRouting<ChatState, RevealedEvent<Event>> => ({
  evolve,
  deliver({ data: { userId }, erased }, { roster: { users } }) {
    const user = users.get(userId);
    return user && !erased ? broadcast(type, payloadOf(user)) : [];
  },
});

export const channelMessage = (state: ChatState, type: 'NEW_CHANNEL' | 'UPDATE_CHANNEL', channel: Channel) => ({
  type,
  payload: channelView(state.roster, channel),
});
export const deletionMessage = ({ id, name }: Channel) => ({ type: 'DELETE_CHANNEL', payload: { id, name } });

/** Shows all private channels to a new admin, and hides them from a former one. */
function deliverRoleVisibility(userId: string, after: ChatState, before: ChatState): readonly Delivery[] {
  const is = { userId, isAdmin: userById(after.roster, userId)?.isAdmin ?? false };
  const was = { userId, isAdmin: userById(before.roster, userId)?.isAdmin ?? false };
  if (is.isAdmin === was.isAdmin) return [];
  const all = channelsFor(after.channels, { userId, isAdmin: true });
  const privateChannels = all.filter((each) => !canSee(each, { userId, isAdmin: false }));
  const to = [userKey(userId)];
  return privateChannels.map((channel) =>
    is.isAdmin
      ? { to, resource: channel.id, message: channelMessage(after, 'NEW_CHANNEL', channel) }
      : { to, message: deletionMessage(channel) },
  );
}

export const rosterOn: Routing = {
  UserAdded: routeUserEvent('NEW_USER', (user) => ({ ...userView(user), email: user.email })),
  UserRenamed: routeUserEvent('UPDATE_USER', userView),
  RoleChanged: {
    evolve,
    deliver: (event, after, before) => [
      ...(routeUserEvent<RosterEvent>('UPDATE_USER', userView).deliver?.(event, after, before) ?? []),
      ...deliverRoleVisibility(event.data.userId, after, before),
    ],
  },
  UserRemoved: routeUserEvent('REMOVE_USER', (user) => ({ ...userView(user), email: user.email })),
  UserLeft: routeUserEvent('USER_EXIT', userView),
  UserErased: { evolve },
};
