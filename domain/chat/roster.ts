/** Who is in the chat, who of them is an admin, and what they are called. Stream `chat.roster-main`. */
import { type Decider, type Evolve, PersistentMap, type Rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import { NOBODY } from './events/roster.js';
import { freeName, isEmail, nameKey, tidyName } from './names.js';

export interface User {
  readonly id: string;
  /** Tidy; empty once it is erased. */
  readonly email: string;
  readonly userName: string;
  readonly isAdmin: boolean;
  readonly createdAt: number;
  /** Those who are gone are still called what they were: their messages stay. */
  readonly isGone: boolean;
}

export interface RosterState {
  /** By id, those who are gone too. */
  readonly users: PersistentMap<User>;
  /** Ids by the emails, and the names without their case, of those who are there. */
  readonly emails: PersistentMap<string>;
  readonly names: PersistentMap<string>;
  readonly admins: number;
}

interface Newcomer {
  readonly userId: string;
  /** Tidy. */
  readonly email: string;
  /** Made free by a number. */
  readonly userName: string;
  readonly now: number;
}

export type RosterCommand =
  /** Whoever signs in first, or is in the configuration: who is there already is let in as they are. */
  | ({ type: 'AdmitUser'; isAdmin: boolean; how: 'initial' | 'sign-in' } & Newcomer)
  | ({ type: 'RegisterUser' } & Newcomer)
  | ({ type: 'AddUser'; isAdmin: boolean; by: string } & Newcomer)
  | { type: 'RenameUser'; userId: string; userName: string; now: number }
  | { type: 'ChangeRole'; userId: string; isAdmin: boolean; by: string; now: number }
  | { type: 'RemoveUser'; userId: string; by: string; now: number }
  | { type: 'LeaveServer'; userId: string; now: number }
  /** By whoever runs the server. */
  | { type: 'EraseUser'; userId: string; by: string; now: number };

type Command<Type extends RosterCommand['type']> = Extract<RosterCommand, { type: Type }>;

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

const userExists: Rejection = {
  rejected: 'chat/user-exists',
  kind: 'invalid',
  detail: 'There is a user with this email already',
};
export const badEmail: Rejection = {
  rejected: 'chat/bad-email',
  kind: 'invalid',
  detail: 'email must be an email address',
};
const badName: Rejection = {
  rejected: 'chat/bad-name',
  kind: 'invalid',
  detail: 'userName must be of 1 to 64 characters',
};
const nameTaken: Rejection = {
  rejected: 'chat/name-taken',
  kind: 'invalid',
  detail: 'This userName is taken',
};
export const notAdmin: Rejection = {
  rejected: 'chat/not-admin',
  kind: 'forbidden',
  detail: 'Only an admin may do this',
};
export const unknownUser: Rejection = {
  rejected: 'chat/unknown-user',
  kind: 'invalid',
  detail: 'User not found',
};
const userNotFound: Rejection = { ...unknownUser, rejected: 'chat/user-not-found', kind: 'not-found' };
const lastAdmin: Rejection = {
  rejected: 'chat/last-admin',
  kind: 'invalid',
  detail: 'The last admin must stay one',
};

/** Somebody who is there. */
export function userWith({ users }: RosterState, userId: string): User | undefined {
  const user = users.get(userId);
  return user && !user.isGone ? user : undefined;
}

/** By a tidy email. */
export const userOf = (roster: RosterState, email: string): User | undefined =>
  userWith(roster, roster.emails.get(email) ?? '');

/** What somebody is called, who is there, or was. */
export const nameOf = ({ users }: RosterState, userId: string): string => users.get(userId)?.userName ?? NOBODY;

function decide(command: RosterCommand, state: RosterState): readonly RosterEvent[] | Rejection {
  switch (command.type) {
    case 'AdmitUser':
      return userOf(state, command.email) ? [] : added(state, command, command);
    case 'RegisterUser':
      return userOf(state, command.email) ? userExists : added(state, command, { how: 'register', isAdmin: false });
    case 'AddUser':
      return add(command, state);
    case 'RenameUser':
      return rename(command, state);
    case 'ChangeRole':
      return changeRole(command, state);
    case 'RemoveUser':
      return remove(command, state);
    case 'LeaveServer':
      return leave(command, state);
    case 'EraseUser':
      return erase(command, state);
  }
}

function added(
  { names }: RosterState,
  { userId, email, userName, now }: Newcomer,
  { how, isAdmin, by }: { how: 'initial' | 'admin' | 'sign-in' | 'register'; isAdmin: boolean; by?: string },
): readonly RosterEvent[] | Rejection {
  if (!isEmail(email)) return badEmail;
  const secret = {
    email,
    userName: freeName(userName, (name) => isReserved(name) || names.has(nameKey(name))),
  };
  const data = { userId, isAdmin, how, addedAt: now, ...(by !== undefined && { by }), secret };
  return [{ type: 'UserAdded', data }];
}

/** What those are called who are erased. */
const isReserved = (name: string) => nameKey(name) === nameKey(NOBODY);

const mayAdminister = (state: RosterState, by: string) => userWith(state, by)?.isAdmin === true;

function add(command: Command<'AddUser'>, state: RosterState) {
  const { by, isAdmin } = command;
  if (!mayAdminister(state, by)) return notAdmin;
  if (userOf(state, command.email)) return userExists;
  return added(state, command, { how: 'admin', isAdmin, by });
}

function rename(
  { userId, userName: wanted, now }: Command<'RenameUser'>,
  state: RosterState,
): readonly RosterEvent[] | Rejection {
  const user = userWith(state, userId);
  if (!user) return userNotFound;
  const userName = tidyName(wanted);
  if (userName === undefined) return badName;
  if (userName === user.userName) return [];
  if (isReserved(userName) || (state.names.get(nameKey(userName)) ?? userId) !== userId) return nameTaken;
  return [{ type: 'UserRenamed', data: { userId, renamedAt: now, secret: { userName } } }];
}

const isLastAdmin = ({ admins }: RosterState, { isAdmin }: User) => isAdmin && admins === 1;

function changeRole(
  { userId, isAdmin, by, now }: Command<'ChangeRole'>,
  state: RosterState,
): readonly RosterEvent[] | Rejection {
  if (!mayAdminister(state, by)) return notAdmin;
  const user = userWith(state, userId);
  if (!user) return unknownUser;
  if (user.isAdmin === isAdmin) return [];
  if (isLastAdmin(state, user)) return lastAdmin;
  return [{ type: 'RoleChanged', data: { userId, isAdmin, by, changedAt: now } }];
}

function remove({ userId, by, now }: Command<'RemoveUser'>, state: RosterState): readonly RosterEvent[] | Rejection {
  if (!mayAdminister(state, by)) return notAdmin;
  const user = userWith(state, userId);
  if (!user) return userNotFound;
  if (isLastAdmin(state, user)) return lastAdmin;
  return [{ type: 'UserRemoved', data: { userId, by, removedAt: now } }];
}

function leave({ userId, now }: Command<'LeaveServer'>, state: RosterState): readonly RosterEvent[] | Rejection {
  const user = userWith(state, userId);
  if (!user) return userNotFound;
  if (isLastAdmin(state, user)) return lastAdmin;
  return [{ type: 'UserLeft', data: { userId, leftAt: now } }];
}

/** Who is erased is gone as well. Once more does no harm: a key may have been left by a crash. */
function erase({ userId, by, now }: Command<'EraseUser'>, state: RosterState): readonly RosterEvent[] | Rejection {
  const user = state.users.get(userId);
  if (!user) return userNotFound;
  if (!user.isGone && isLastAdmin(state, user)) return lastAdmin;
  const removed: RosterEvent = { type: 'UserRemoved', data: { userId, by, removedAt: now } };
  const erased: RosterEvent = { type: 'UserErased', data: { userId, by, erasedAt: now } };
  if (!user.isGone) return [removed, erased];
  return user.userName === NOBODY && user.email === '' ? [] : [erased];
}

/** Another state of somebody who is known; nothing is made of whom the log does not know. */
function changed(state: RosterState, userId: string, change: Partial<User>): RosterState {
  const user = state.users.get(userId);
  return user ? { ...state, users: state.users.set(userId, { ...user, ...change }) } : state;
}

function gone(state: RosterState, userId: string): RosterState {
  const user = userWith(state, userId);
  if (!user) return state;
  return {
    ...changed(state, userId, { isGone: true, isAdmin: false }),
    emails: freed(state.emails, user.email, userId),
    names: freed(state.names, nameKey(user.userName), userId),
    admins: state.admins - (user.isAdmin ? 1 : 0),
  };
}

/** What is erased is called the same as all others who are, and is nobody's. */
const freed = (ids: PersistentMap<string>, key: string, userId: string) =>
  ids.get(key) === userId ? ids.delete(key) : ids;

/** Who had it first has it: names that count as one today may have been two when they were taken. */
const taken = (ids: PersistentMap<string>, key: string, userId: string) =>
  key === '' || isReserved(key) || ids.has(key) ? ids : ids.set(key, userId);

/** With somebody more, who is there or gone. */
export function withUser(state: RosterState, user: User): RosterState {
  const { id, email, userName, isAdmin, isGone } = user;
  const users = state.users.set(id, user);
  if (isGone) return { ...state, users };
  return {
    users,
    emails: taken(state.emails, email, id),
    names: taken(state.names, nameKey(userName), id),
    admins: state.admins + (isAdmin ? 1 : 0),
  };
}

const evolve: Evolve<RosterState, RosterEvent> = {
  UserAdded: (state, { userId: id, isAdmin, addedAt: createdAt, secret: { email, userName } }) =>
    withUser(state, { id, email, userName, isAdmin, createdAt, isGone: false }),
  UserRenamed(state, { userId, secret: { userName } }) {
    const user = userWith(state, userId);
    if (!user) return changed(state, userId, { userName });
    const names = freed(state.names, nameKey(user.userName), userId);
    return { ...changed(state, userId, { userName }), names: taken(names, nameKey(userName), userId) };
  },
  RoleChanged(state, { userId, isAdmin }) {
    const wasAdmin = userWith(state, userId)?.isAdmin ?? isAdmin;
    const admins = state.admins + Number(isAdmin) - Number(wasAdmin);
    return { ...changed(state, userId, { isAdmin }), admins };
  },
  UserRemoved: (state, { userId }) => gone(state, userId),
  UserLeft: (state, { userId }) => gone(state, userId),
  UserErased: (state, { userId }) => changed(gone(state, userId), userId, { email: '', userName: NOBODY }),
};

export const roster: Decider<RosterState, RosterCommand, RosterEvent> = { initialState, decide, evolve };
