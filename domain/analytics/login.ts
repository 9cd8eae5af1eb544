/** Sessions of an email at the dashboard. Stream `analytics.login-<digest>`. */
import type { Decider, Evolve } from '../shared/index.js';
import type { AnalyticsEvent } from './catalog.js';

export interface LoginSession {
  readonly sessionId: string;
  readonly openedAt: number;
  readonly expiresAt: number;
  readonly email: string;
}

export interface LoginState {
  /** Oldest first; may include expired sessions. */
  readonly sessions: readonly LoginSession[];
}

interface CommandBase {
  readonly addressId: string;
  readonly now: number;
}

export type LoginCommand = CommandBase &
  (
    | { type: 'OpenSession'; sessionId: string; email: string }
    | { type: 'RenewSession'; sessionId: string }
    | { type: 'EndSession'; sessionId: string }
  );

export type LoginEvent = AnalyticsEvent<'SessionOpened' | 'SessionRenewed' | 'SessionEnded'>;

export const SESSION_MS = 604_800_000;
/** Older sessions are dropped. */
const MAX_SESSIONS = 20;

export const loginStream = (addressId: string): string => `analytics.login-${addressId}`;

const initialState: LoginState = { sessions: [] };

export const sessionOf = ({ sessions }: LoginState, id: string, now: number): LoginSession | undefined =>
  sessions.find(({ sessionId, expiresAt }) => sessionId === id && now < expiresAt);

/** Whether half of the session's lifetime has passed. */
export const needsRenewal = ({ expiresAt }: LoginSession, now: number): boolean => expiresAt - now < SESSION_MS / 2;

function decide(command: LoginCommand, state: LoginState): readonly LoginEvent[] {
  const { addressId, now } = command;
  switch (command.type) {
    case 'OpenSession': {
      const { sessionId, email } = command;
      const data = { addressId, sessionId, openedAt: now, expiresAt: now + SESSION_MS };
      return [{ type: 'SessionOpened', data: { ...data, secret: { email } } }];
    }
    case 'RenewSession': {
      const session = sessionOf(state, command.sessionId, now);
      if (!session || !needsRenewal(session, now)) return [];
      const { sessionId, openedAt, email } = session;
      const data = { addressId, sessionId, openedAt, renewedAt: now, expiresAt: now + SESSION_MS };
      return [{ type: 'SessionRenewed', data: { ...data, secret: { email } } }];
    }
    case 'EndSession': {
      const { sessionId } = command;
      if (!sessionOf(state, sessionId, now)) return [];
      return [{ type: 'SessionEnded', data: { addressId, sessionId, endedAt: now } }];
    }
  }
}

function withSession(state: LoginState, session: LoginSession, now: number): LoginState {
  const others = state.sessions.filter(
    ({ sessionId, expiresAt }) => sessionId !== session.sessionId && now < expiresAt,
  );
  return { sessions: [...others, session].slice(-MAX_SESSIONS) };
}

const evolve: Evolve<LoginState, LoginEvent> = {
  SessionOpened: (state, { sessionId, openedAt, expiresAt, secret: { email } }) =>
    withSession(state, { sessionId, openedAt, expiresAt, email }, openedAt),
  SessionRenewed: (state, { sessionId, openedAt, renewedAt, expiresAt, secret: { email } }) =>
    withSession(state, { sessionId, openedAt, expiresAt, email }, renewedAt),
  SessionEnded: ({ sessions }, { sessionId }) => ({
    sessions: sessions.filter((each) => each.sessionId !== sessionId),
  }),
};

export const login: Decider<LoginState, LoginCommand, LoginEvent> = { initialState, decide, evolve };
