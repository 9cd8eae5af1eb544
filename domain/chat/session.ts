/** Sessions of a user: limit, refresh token rotation, and end. Stream `chat.session-<userId>`. */

import { type Decider, type Evolve, type Rejection, rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';

export interface Session {
  readonly id: string;
  readonly generation: number;
  readonly createdAt: number;
  /** When the current refresh token was issued. */
  readonly lastUsedAt: number;
  readonly expiresAt: number;
  readonly ip: string;
  readonly userAgent: string;
}

export interface SessionsState {
  /** Sessions not ended, oldest first; may have expired. */
  readonly sessions: readonly Session[];
}

type Reason = ChatEvent<'SessionEnded'>['data']['reason'];

interface About {
  readonly userId: string;
  readonly now: number;
}

export type SessionCommand = About &
  (
    | {
        type: 'OpenSession';
        sessionId: string;
        expiresAt: number;
        /** Maximum sessions per user; the oldest are ended. */
        most: number;
        ip: string;
        userAgent: string;
        /** Ends all other sessions, as after a password change. */
        alone?: boolean;
      }
    | { type: 'RefreshSession'; sessionId: string; generation: number; expiresAt: number }
    | { type: 'EndSession'; sessionId: string; reason: Reason }
    /** `before`: only sessions opened before. */
    | { type: 'EndSessions'; except?: string; before?: number; reason: Reason }
  );

type Command<Type extends SessionCommand['type']> = Extract<SessionCommand, { type: Type }>;

export type SessionEvent = ChatEvent<'SessionOpened' | 'SessionRefreshed' | 'SessionEnded'>;

/** Time the previous refresh token is still accepted: two tabs may refresh concurrently. */
export const GRACE_MS = 30_000;

/**
 * Events kept per user, as all are read before a decision. Each event holds its whole session, so a session without
 * events within this window counts as ended.
 */
export const SESSION_EVENTS = 10_000;

export const sessionStream = (userId: string): string => `chat.session-${userId}`;

export const sessionEnded = rejection('chat/session-ended', 'unauthenticated', 'The session has ended; sign in again');

const initialState: SessionsState = { sessions: [] };

export const activeSessions = ({ sessions }: SessionsState, now: number): readonly Session[] =>
  sessions.filter(({ expiresAt }) => now < expiresAt);

export const findSession = (state: SessionsState, sessionId: string, now: number): Session | undefined =>
  activeSessions(state, now).find(({ id }) => id === sessionId);

function decide(command: SessionCommand, state: SessionsState): readonly SessionEvent[] | Rejection {
  const active = activeSessions(state, command.now);
  switch (command.type) {
    case 'OpenSession':
      return open(command, active);
    case 'RefreshSession':
      return refresh(command, active);
    case 'EndSession':
      return active.filter(({ id }) => id === command.sessionId).map(({ id }) => endedEvent(id, command));
    case 'EndSessions':
      return active.filter((each) => isSelected(each, command)).map(({ id }) => endedEvent(id, command));
  }
}

const isSelected = (
  { id, createdAt }: Session,
  { except, before = Number.POSITIVE_INFINITY }: Command<'EndSessions'>,
): boolean => id !== except && createdAt < before;

const endedEvent = (sessionId: string, { userId, reason, now }: About & { readonly reason: Reason }): SessionEvent => ({
  type: 'SessionEnded',
  data: { userId, sessionId, reason, endedAt: now },
});

function open(command: Command<'OpenSession'>, active: readonly Session[]): readonly SessionEvent[] {
  const { userId, sessionId, expiresAt, most, ip, userAgent, alone = false, now } = command;
  const reason = alone ? 'password' : 'superseded';
  const replaced = alone ? active : active.slice(0, Math.max(0, active.length - most + 1));
  const data = { userId, sessionId, generation: 0, createdAt: now, lastUsedAt: now, expiresAt };
  return [
    ...replaced.map(({ id }) => endedEvent(id, { userId, reason, now })),
    { type: 'SessionOpened', data: { ...data, secret: { ip, userAgent } } },
  ];
}

/** A token replaced a while ago was presented again: it may be stolen, so the session ends. */
function refresh(command: Command<'RefreshSession'>, active: readonly Session[]): readonly SessionEvent[] | Rejection {
  const { userId, sessionId, generation, expiresAt, now } = command;
  const session = active.find(({ id }) => id === sessionId);
  if (!session || generation > session.generation) return sessionEnded;
  if (generation < session.generation) {
    const isPrevious = generation === session.generation - 1;
    if (isPrevious && now - session.lastUsedAt <= GRACE_MS) return [];
    return [endedEvent(sessionId, { userId, reason: 'reused', now })];
  }
  const { createdAt, ip, userAgent } = session;
  const data = { userId, sessionId, generation: generation + 1, createdAt, lastUsedAt: now, expiresAt };
  return [{ type: 'SessionRefreshed', data: { ...data, secret: { ip, userAgent } } }];
}

function upsert(
  { sessions }: SessionsState,
  { sessionId: id, secret, ...data }: ChatEvent<'SessionOpened' | 'SessionRefreshed'>['data'],
): SessionsState {
  const { generation, createdAt, lastUsedAt, expiresAt } = data;
  const session = { id, generation, createdAt, lastUsedAt, expiresAt, ...secret };
  const others = sessions.filter((each) => each.id !== id && each.expiresAt > lastUsedAt);
  const place = others.findLastIndex((each) => each.createdAt <= createdAt) + 1;
  return { sessions: [...others.slice(0, place), session, ...others.slice(place)] };
}

const evolve: Evolve<SessionsState, SessionEvent> = {
  SessionOpened: upsert,
  SessionRefreshed: upsert,
  SessionEnded: ({ sessions }, { sessionId }) => ({
    sessions: sessions.filter(({ id }) => id !== sessionId),
  }),
};

export const session: Decider<SessionsState, SessionCommand, SessionEvent> = {
  initialState,
  decide,
  evolve,
};
