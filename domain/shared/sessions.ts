/** Sessions of a user: limit, rotation of refresh tokens, and end. Stream `<service>.session-<userId>`. */

import { type Decider, type DomainEvent, type Evolve, type Rejection, rejection } from './decider.js';
import { count, type DataOf, id, object, time } from './schema.js';

/** Fields of `SessionOpened` and `SessionRefreshed` besides the service's `secret`; each event holds its whole session. */
export const sessionFields = {
  userId: id,
  sessionId: id,
  /** Number of refreshes. */
  generation: count,
  createdAt: time,
  /** When the current refresh token was issued. */
  lastUsedAt: time,
  expiresAt: time,
} as const;

export const sessionEnd = object({
  userId: id,
  sessionId: id,
  reason: { enum: ['logout', 'revoked', 'superseded', 'reused', 'password', 'removed'] },
  endedAt: time,
});

type SessionData<Secret> = DataOf<ReturnType<typeof object<typeof sessionFields>>> & { readonly secret: Secret };
type SessionEnd = DataOf<typeof sessionEnd>;

/** `Secret`: what the service seals of a session. */
export type SessionEvent<Secret> =
  | DomainEvent<'SessionOpened' | 'SessionRefreshed', SessionData<Secret>>
  | DomainEvent<'SessionEnded', SessionEnd>;

export interface Session<Secret> {
  readonly id: string;
  readonly generation: number;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
  readonly secret: Secret;
}

export interface SessionsState<Secret> {
  /** Sessions not ended, oldest first; may have expired. */
  readonly sessions: readonly Session<Secret>[];
}

type Reason = SessionEnd['reason'];

interface About {
  readonly userId: string;
  readonly now: number;
}

export type SessionCommand<Secret> = About &
  (
    | {
        type: 'OpenSession';
        sessionId: string;
        expiresAt: number;
        /** Maximum sessions per user; the oldest are ended. */
        most: number;
        secret: Secret;
        /** Ends all other sessions, as after a password change. */
        alone?: boolean;
      }
    /** `generation`: of the presented refresh token; omitted where tokens are not rotated. */
    | { type: 'RefreshSession'; sessionId: string; generation?: number; expiresAt: number }
    | { type: 'EndSession'; sessionId: string; reason: Reason }
    /** `before`: only sessions opened before. */
    | { type: 'EndSessions'; except?: string; before?: number; reason: Reason }
  );

type Command<Type extends SessionCommand<unknown>['type'], Secret = unknown> = Extract<
  SessionCommand<Secret>,
  { type: Type }
>;

/** Time the previous refresh token is still accepted: two tabs may refresh concurrently. */
export const GRACE_MS = 30_000;

/**
 * Events kept per user, as all are read before a decision. Each event holds its whole session, so a session without
 * events within this window counts as ended.
 */
export const SESSION_EVENTS = 10_000;

export const sessionStreamOf =
  (service: string) =>
  (userId: string): string =>
    `${service}.session-${userId}`;

export const sessionEndedOf = (service: string): Rejection =>
  rejection(`${service}/session-ended`, 'unauthenticated', 'The session has ended; sign in again');

export const activeSessions = <Secret>({ sessions }: SessionsState<Secret>, now: number): readonly Session<Secret>[] =>
  sessions.filter(({ expiresAt }) => now < expiresAt);

export const findSession = <Secret>(
  state: SessionsState<Secret>,
  sessionId: string,
  now: number,
): Session<Secret> | undefined => activeSessions(state, now).find(({ id }) => id === sessionId);

const isSelected = (
  { id, createdAt }: Session<unknown>,
  { except, before = Number.POSITIVE_INFINITY }: Command<'EndSessions'>,
): boolean => id !== except && createdAt < before;

const endedEvent = (
  sessionId: string,
  { userId, reason, now }: About & { readonly reason: Reason },
): DomainEvent<'SessionEnded', SessionEnd> => ({
  type: 'SessionEnded',
  data: { userId, sessionId, reason, endedAt: now },
});

function open<Secret>(
  { userId, sessionId, expiresAt, most, secret, alone = false, now }: Command<'OpenSession', Secret>,
  active: readonly Session<Secret>[],
): readonly SessionEvent<Secret>[] {
  const reason = alone ? 'password' : 'superseded';
  const replaced = alone ? active : active.slice(0, Math.max(0, active.length - most + 1));
  const data = { userId, sessionId, generation: 0, createdAt: now, lastUsedAt: now, expiresAt };
  return [
    ...replaced.map(({ id }) => endedEvent(id, { userId, reason, now })),
    { type: 'SessionOpened', data: { ...data, secret } },
  ];
}

/** A token replaced a while ago was presented again: it may be stolen, so the session ends. */
function refresh<Secret>(
  { userId, sessionId, generation: presented, expiresAt, now }: Command<'RefreshSession'>,
  active: readonly Session<Secret>[],
  sessionEnded: Rejection,
): readonly SessionEvent<Secret>[] | Rejection {
  const session = active.find(({ id }) => id === sessionId);
  if (!session) return sessionEnded;
  const { generation, createdAt, secret } = session;
  if (presented !== undefined && presented > generation) return sessionEnded;
  if (presented !== undefined && presented < generation) {
    if (presented === generation - 1 && now - session.lastUsedAt <= GRACE_MS) return [];
    return [endedEvent(sessionId, { userId, reason: 'reused', now })];
  }
  const data = { userId, sessionId, generation: generation + 1, createdAt, lastUsedAt: now, expiresAt };
  return [{ type: 'SessionRefreshed', data: { ...data, secret } }];
}

function upsert<Secret>(
  { sessions }: SessionsState<Secret>,
  { userId: _, sessionId: id, ...data }: SessionData<Secret>,
): SessionsState<Secret> {
  const { createdAt, lastUsedAt } = data;
  const others = sessions.filter((each) => each.id !== id && each.expiresAt > lastUsedAt);
  const place = others.findLastIndex((each) => each.createdAt <= createdAt) + 1;
  return { sessions: [...others.slice(0, place), { id, ...data }, ...others.slice(place)] };
}

/** Creates the decider of the sessions of a service. */
export function sessions<Secret>(
  service: string,
): Decider<SessionsState<Secret>, SessionCommand<Secret>, SessionEvent<Secret>> {
  const sessionEnded = sessionEndedOf(service);
  const evolve: Evolve<SessionsState<Secret>, SessionEvent<Secret>> = {
    SessionOpened: upsert,
    SessionRefreshed: upsert,
    SessionEnded: ({ sessions }, { sessionId }) => ({ sessions: sessions.filter(({ id }) => id !== sessionId) }),
  };
  return {
    initialState: { sessions: [] },
    decide(command, state) {
      const active = activeSessions(state, command.now);
      switch (command.type) {
        case 'OpenSession':
          return open(command, active);
        case 'RefreshSession':
          return refresh(command, active, sessionEnded);
        case 'EndSession':
          return active.filter(({ id }) => id === command.sessionId).map(({ id }) => endedEvent(id, command));
        case 'EndSessions':
          return active.filter((each) => isSelected(each, command)).map(({ id }) => endedEvent(id, command));
      }
    },
    evolve,
  };
}
