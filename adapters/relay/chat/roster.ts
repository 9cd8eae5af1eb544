/** What everybody is told of the people of the chat: who comes, goes, and is called or may do something else now. */
import type { RevealedEvent } from '../../../application/ports.js';
import { type RosterEvent, roster, type User } from '../../../domain/chat/roster.js';
import { evolveOf } from '../../../domain/shared/decider.js';
import type { Audience, Delivery, Hearing } from '../audience.js';
import { type ChatState, EVERYBODY } from './state.js';

type On = Audience<ChatState, RosterEvent>['on'];

const fold = evolveOf(roster);
const evolve = (state: ChatState, event: RosterEvent): ChatState => ({
  ...state,
  roster: fold(state.roster, event),
});

const told = (type: string, payload: object): readonly Delivery[] => [
  { to: [EVERYBODY], message: { type, payload } },
];

const shown = ({ id, userName, isAdmin, createdAt }: User) => ({ id, userName, isAdmin, createdAt });

/** `type` about whom the event is about, as `tell` says; nothing of whom nobody knows any more. */
const hearing = <Event extends RosterEvent>(
  type: string,
  tell: (user: User) => object,
): Hearing<ChatState, RevealedEvent<Event>> => ({
  evolve,
  deliver({ data: { userId }, erased }, { roster: { users } }) {
    const user = users.get(userId);
    return user && !erased ? told(type, tell(user)) : [];
  },
});

export const rosterOn: On = {
  UserAdded: hearing('NEW_USER', (user) => ({ ...shown(user), email: user.email })),
  UserRenamed: hearing('UPDATE_USER', shown),
  RoleChanged: hearing('UPDATE_USER', shown),
  UserRemoved: hearing('REMOVE_USER', (user) => ({ ...shown(user), email: user.email })),
  UserLeft: hearing('USER_EXIT', shown),
  UserErased: { evolve },
};
