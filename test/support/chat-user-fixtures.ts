/** Events and commands of the chat for specs, with defaults for everything that a test does not give. */
import type { Purpose, SessionSecret } from '../../domain/chat/events/sign-in.js';
import type { Hashed, PasswordSet, SetPassword } from '../../domain/chat/password.js';
import type { RosterCommand, RosterEvent } from '../../domain/chat/roster.js';
import type { LinkCommand, LinkEvent } from '../../domain/shared/one-time-links.js';
import type { SessionCommand, SessionEvent } from '../../domain/shared/sessions.js';

export const NOON = 1_800_000_000_000;
export const MINUTE = 60_000;
export const WEEK = 604_800_000;

type How = Extract<RosterEvent, { type: 'UserAdded' }>['data']['how'];

/** `ada` has the email ada@example.org. */
export const emailOf = (userId: string): string => `${userId}@example.org`;

export const added = (
  userId: string,
  { isAdmin = false, userName = userId, how = 'sign-in' as How, by = undefined as string | undefined } = {},
): RosterEvent => ({
  type: 'UserAdded',
  data: {
    userId,
    isAdmin,
    how,
    addedAt: NOON,
    ...(by !== undefined && { by }),
    secret: { email: emailOf(userId), userName },
  },
});

export const admin = (userId: string): RosterEvent => added(userId, { isAdmin: true });

export const renamed = (userId: string, userName: string): RosterEvent => ({
  type: 'UserRenamed',
  data: { userId, renamedAt: NOON, secret: { userName } },
});

export const roleChanged = (userId: string, isAdmin: boolean, by = 'ada'): RosterEvent => ({
  type: 'RoleChanged',
  data: { userId, isAdmin, by, changedAt: NOON },
});

export const removed = (userId: string, by = 'ada'): RosterEvent => ({
  type: 'UserRemoved',
  data: { userId, by, removedAt: NOON },
});

export const left = (userId: string): RosterEvent => ({ type: 'UserLeft', data: { userId, leftAt: NOON } });

export const erased = (userId: string, by = 'operator'): RosterEvent => ({
  type: 'UserErased',
  data: { userId, by, erasedAt: NOON },
});

export const newcomer = (userId: string, userName = userId) => ({
  userId,
  email: emailOf(userId),
  userName,
  now: NOON,
});

export const signIn = (userId: string, userName?: string): RosterCommand => ({
  type: 'AddUser',
  isAdmin: false,
  how: 'sign-in',
  ...newcomer(userId, userName),
});
export const register = (userId: string): RosterCommand => ({
  type: 'AddUser',
  how: 'register',
  isAdmin: false,
  ...newcomer(userId),
});
export const add = (userId: string, { isAdmin = false, by = 'ada' } = {}): RosterCommand => ({
  type: 'AddUser',
  how: 'admin',
  isAdmin,
  by,
  ...newcomer(userId),
});
export const rename = (userId: string, userName: string): RosterCommand => ({
  type: 'RenameUser',
  userId,
  userName,
  now: NOON,
});
export const changeRole = (userId: string, isAdmin: boolean, by = 'ada'): RosterCommand => ({
  type: 'ChangeRole',
  userId,
  isAdmin,
  by,
  now: NOON,
});
export const remove = (userId: string, by = 'ada'): RosterCommand => ({
  type: 'RemoveUser',
  userId,
  by,
  now: NOON,
});
export const leave = (userId: string): RosterCommand => ({ type: 'LeaveServer', userId, now: NOON });
export const eraseUser = (userId: string): RosterCommand => ({
  type: 'EraseUser',
  userId,
  by: 'operator',
  now: NOON,
});

const from = { ip: '192.0.2.7', userAgent: 'a browser' };

export const opened = (
  sessionId: string,
  at = NOON,
  more: { expiresAt?: number } = {},
): SessionEvent<SessionSecret> => ({
  type: 'SessionOpened',
  data: {
    userId: 'ada',
    sessionId,
    generation: 0,
    createdAt: at,
    lastUsedAt: at,
    expiresAt: at + WEEK,
    secret: from,
    ...more,
  },
});

export const refreshed = (
  sessionId: string,
  generation: number,
  at: number,
  createdAt = NOON,
): SessionEvent<SessionSecret> => ({
  type: 'SessionRefreshed',
  data: {
    userId: 'ada',
    sessionId,
    generation,
    createdAt,
    lastUsedAt: at,
    expiresAt: at + WEEK,
    secret: from,
  },
});

type Reason = Extract<SessionEvent<SessionSecret>, { type: 'SessionEnded' }>['data']['reason'];

export const ended = (sessionId: string, reason: Reason, at = NOON): SessionEvent<SessionSecret> => ({
  type: 'SessionEnded',
  data: { userId: 'ada', sessionId, reason, endedAt: at },
});

export const open = (sessionId: string, now = NOON, more: { alone?: boolean } = {}): SessionCommand<SessionSecret> => ({
  type: 'OpenSession',
  userId: 'ada',
  sessionId,
  expiresAt: now + WEEK,
  most: 3,
  secret: from,
  now,
  ...more,
});
export const refresh = (sessionId: string, generation: number, now: number): SessionCommand<SessionSecret> => ({
  type: 'RefreshSession',
  userId: 'ada',
  sessionId,
  generation,
  expiresAt: now + WEEK,
  now,
});

export const setPassword = (more: Partial<SetPassword> = {}): SetPassword => ({
  type: 'SetPassword',
  userId: 'bob',
  by: 'ada',
  salt: 'salt',
  hash: 'hash',
  isFirst: false,
  now: NOON,
  ...more,
});
export const passwordSet = (secret: Hashed = { salt: 'salt', hash: 'hash' }): PasswordSet => ({
  type: 'PasswordSet',
  data: { userId: 'bob', by: 'ada', setAt: NOON, secret },
});

const link = (linkId: string, purpose: Purpose) => ({ addressId: 'digest-of-bob', purpose, linkId });

export const requestLink = (
  linkId: string,
  now = NOON,
  { purpose = 'magic-link' as Purpose, userId = 'bob' as string | undefined, email = '' } = {},
): LinkCommand => ({
  type: 'RequestLink',
  ...link(linkId, purpose),
  expiresAt: now + 15 * MINUTE,
  userId,
  email,
  now,
});
export const spendLink = (linkId: string, now = NOON, purpose: Purpose = 'magic-link'): LinkCommand => ({
  type: 'SpendLink',
  ...link(linkId, purpose),
  now,
});
export const recordMail = (linkId: string, isSent: boolean): LinkCommand => ({
  type: 'RecordMail',
  ...link(linkId, 'magic-link'),
  isSent,
  now: NOON,
});
export const linkRequested = (
  linkId: string,
  now = NOON,
  { purpose = 'magic-link' as Purpose, userId = 'bob' as string | undefined, email = '' } = {},
): LinkEvent => ({
  type: 'LinkRequested',
  data: {
    ...link(linkId, purpose),
    requestedAt: now,
    expiresAt: now + 15 * MINUTE,
    ...(userId !== undefined && { userId }),
    secret: { email },
  },
});
export const linkMailed = (linkId: string, isSent = true): LinkEvent => ({
  type: 'LinkMailed',
  data: { ...link(linkId, 'magic-link'), mailedAt: NOON, isSent },
});
export const linkSpent = (linkId: string, now = NOON, purpose: Purpose = 'magic-link'): LinkEvent => ({
  type: 'LinkSpent',
  data: { ...link(linkId, purpose), spentAt: now },
});
