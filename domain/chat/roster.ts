/** Users, their roles and names. Stream `chat.roster-main`. */

import {
  type Decider,
  decideByType,
  type Evolve,
  isEmail,
  PersistentMap,
  type Rejection,
  rejection,
} from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import { NOBODY } from './events/roster.js';
import { claimKey, freeName, nameKey, releaseKey, tidyName } from './names.js';

export interface User {
  readonly id: string;
  /** Place in the order of joining, from 0. */
  readonly number: number;
  /** Normalized; empty once erased. */
  readonly email: string;
  readonly userName: string;
  readonly isAdmin: boolean;
  readonly createdAt: number;
  /** Former users keep their names, as their messages remain. */
  readonly isRemoved: boolean;
}

export interface RosterState {
  /** By id, including former users. */
  readonly users: PersistentMap<User>;
  readonly emails: PersistentMap<string>;
  readonly names: PersistentMap<string>;
  readonly admins: number;
}

export type RosterCommand =
  | {
      type: 'AddUser';
      /** `initial` (a configured admin) and `sign-in` leave an existing user unchanged. */
      how: ChatEvent<'UserAdded'>['data']['how'];
      userId: string;
      /** Normalized. */
      email: string;
      /** Made unique with a number. */
      userName: string;
      isAdmin: boolean;
      /** With `admin`: the admin. */
      by?: string | undefined;
      now: number;
    }
  | { type: 'RenameUser'; userId: string; userName: string; now: number }
  | { type: 'ChangeRole'; userId: string; isAdmin: boolean; by: string; now: number }
  | { type: 'RemoveUser'; userId: string; by: string; now: number }
  | { type: 'LeaveServer'; userId: string; now: number }
  /** Sent by the operator. */
  | { type: 'EraseUser'; userId: string; by: string; now: number };

export type RosterEvent = ChatEvent<
  'UserAdded' | 'UserRenamed' | 'RoleChanged' | 'UserRemoved' | 'UserLeft' | 'UserErased'
>;

export const ROSTER = 'chat.roster-main';

const initialState: RosterState = {
  users: PersistentMap.empty(),
  emails: PersistentMap.empty(),
  names: PersistentMap.empty(),
  admins: 0,
};

const userExists = rejection('chat/user-exists', 'invalid', 'A user with this email already exists');
export const badEmail = rejection('chat/bad-email', 'invalid', 'email must be an email address');
const badName = rejection('chat/bad-name', 'invalid', 'userName must be 1 to 64 characters');
const nameTaken = rejection('chat/name-taken', 'invalid', 'This name is already taken');
export const notAdmin = rejection('chat/not-admin', 'forbidden', 'Only an admin may do this');
export const unknownUser = rejection('chat/unknown-user', 'invalid', 'User not found');
const userNotFound: Rejection = { ...unknownUser, rejected: 'chat/user-not-found', kind: 'not-found' };
const lastAdmin = rejection('chat/last-admin', 'invalid', 'The last admin cannot be removed or lose the role');

export function userById({ users }: RosterState, userId: string): User | undefined {
  const user = users.get(userId);
  return user && !user.isRemoved ? user : undefined;
}

/** Takes a normalized email. */
export const userByEmail = (roster: RosterState, email: string): User | undefined =>
  userById(roster, roster.emails.get(email) ?? '');

export const nameOf = ({ users }: RosterState, userId: string): string => users.get(userId)?.userName ?? NOBODY;

const isReserved = (name: string) => nameKey(name) === nameKey(NOBODY);

/** Erased users share one name, which has no owner. */
const ownKey = (name: string) => (isReserved(name) ? '' : nameKey(name));

const mayAdminister = (state: RosterState, by = '') => userById(state, by)?.isAdmin === true;

const isLastAdmin = ({ admins }: RosterState, { isAdmin }: User) => isAdmin && admins === 1;

const decide = decideByType<RosterState, RosterCommand, RosterEvent>({
  AddUser({ how, by, userId, email, userName, isAdmin, now }, state) {
    if (how === 'admin' && !mayAdminister(state, by)) return notAdmin;
    if (userByEmail(state, email)) return how === 'initial' || how === 'sign-in' ? [] : userExists;
    if (!isEmail(email)) return badEmail;
    const isTaken = (name: string) => isReserved(name) || state.names.has(nameKey(name));
    const secret = { email, userName: freeName(userName, isTaken) };
    const data = { userId, isAdmin, how, addedAt: now, ...(by !== undefined && { by }), secret };
    return [{ type: 'UserAdded', data }];
  },
  RenameUser({ userId, userName: rawName, now }, state) {
    const user = userById(state, userId);
    if (!user) return userNotFound;
    const userName = tidyName(rawName);
    if (userName === undefined) return badName;
    if (userName === user.userName) return [];
    if (isReserved(userName) || (state.names.get(nameKey(userName)) ?? userId) !== userId) return nameTaken;
    return [{ type: 'UserRenamed', data: { userId, renamedAt: now, secret: { userName } } }];
  },
  ChangeRole({ userId, isAdmin, by, now }, state) {
    if (!mayAdminister(state, by)) return notAdmin;
    const user = userById(state, userId);
    if (!user) return unknownUser;
    if (user.isAdmin === isAdmin) return [];
    if (isLastAdmin(state, user)) return lastAdmin;
    return [{ type: 'RoleChanged', data: { userId, isAdmin, by, changedAt: now } }];
  },
  RemoveUser({ userId, by, now }, state) {
    if (!mayAdminister(state, by)) return notAdmin;
    const user = userById(state, userId);
    if (!user) return userNotFound;
    if (isLastAdmin(state, user)) return lastAdmin;
    return [{ type: 'UserRemoved', data: { userId, by, removedAt: now } }];
  },
  LeaveServer({ userId, now }, state) {
    const user = userById(state, userId);
    if (!user) return userNotFound;
    if (isLastAdmin(state, user)) return lastAdmin;
    return [{ type: 'UserLeft', data: { userId, leftAt: now } }];
  },
  /** Also removes the user. Repeating it is safe: a crash may have left the key. */
  EraseUser({ userId, by, now }, state) {
    const user = state.users.get(userId);
    if (!user) return userNotFound;
    if (!user.isRemoved && isLastAdmin(state, user)) return lastAdmin;
    const removed: RosterEvent = { type: 'UserRemoved', data: { userId, by, removedAt: now } };
    const erased: RosterEvent = { type: 'UserErased', data: { userId, by, erasedAt: now } };
    if (!user.isRemoved) return [removed, erased];
    return user.userName === NOBODY && user.email === '' ? [] : [erased];
  },
});

/** Updates a known user; unknown ids are ignored. */
function patchUser(state: RosterState, userId: string, change: Partial<User>): RosterState {
  const user = state.users.get(userId);
  return user ? { ...state, users: state.users.set(userId, { ...user, ...change }) } : state;
}

function markDeparted(state: RosterState, userId: string): RosterState {
  const user = userById(state, userId);
  if (!user) return state;
  return {
    ...patchUser(state, userId, { isRemoved: true, isAdmin: false }),
    emails: releaseKey(state.emails, user.email, userId),
    names: releaseKey(state.names, nameKey(user.userName), userId),
    admins: state.admins - (user.isAdmin ? 1 : 0),
  };
}

export function withUser(state: RosterState, user: User): RosterState {
  const { id, email, userName, isAdmin, isRemoved } = user;
  const users = state.users.set(id, user);
  if (isRemoved) return { ...state, users };
  return {
    users,
    emails: claimKey(state.emails, email, id),
    names: claimKey(state.names, ownKey(userName), id),
    admins: state.admins + (isAdmin ? 1 : 0),
  };
}

const evolve: Evolve<RosterState, RosterEvent> = {
  UserAdded: (state, { userId: id, isAdmin, addedAt: createdAt, secret: { email, userName } }) =>
    withUser(state, { id, number: state.users.size, email, userName, isAdmin, createdAt, isRemoved: false }),
  UserRenamed(state, { userId, secret: { userName } }) {
    const user = userById(state, userId);
    if (!user) return patchUser(state, userId, { userName });
    const names = releaseKey(state.names, nameKey(user.userName), userId);
    return { ...patchUser(state, userId, { userName }), names: claimKey(names, ownKey(userName), userId) };
  },
  RoleChanged(state, { userId, isAdmin }) {
    const wasAdmin = userById(state, userId)?.isAdmin ?? isAdmin;
    const admins = state.admins + Number(isAdmin) - Number(wasAdmin);
    return { ...patchUser(state, userId, { isAdmin }), admins };
  },
  UserRemoved: (state, { userId }) => markDeparted(state, userId),
  UserLeft: (state, { userId }) => markDeparted(state, userId),
  UserErased: (state, { userId }) => patchUser(markDeparted(state, userId), userId, { email: '', userName: NOBODY }),
};

export const roster: Decider<RosterState, RosterCommand, RosterEvent> = { initialState, decide, evolve };
