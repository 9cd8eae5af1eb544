/** Login aggregate of one email: one single-use link at a time, and sessions. Stream `analytics.login-<digest>`. */
import { type Decider, type Evolve, type Rejection, rejection } from '../shared/index.js';
import type { AnalyticsEvent } from './catalog.js';

export interface LoginLink {
  readonly linkId: string;
  readonly expiresAt: number;
  readonly email: string;
  /** Mailed or given up. */
  readonly isDone: boolean;
}

export interface LoginSession {
  readonly sessionId: string;
  readonly openedAt: number;
  readonly expiresAt: number;
  readonly email: string;
}

export interface LoginState {
  /** Newest link, until it is used. */
  readonly link: LoginLink | undefined;
  /** Times of link requests in the 15 minutes before the newest. */
  readonly recent: readonly number[];
  /** Oldest first; may include expired sessions. */
  readonly sessions: readonly LoginSession[];
}

interface CommandBase {
  readonly addressId: string;
  readonly now: number;
}

export type LoginCommand = CommandBase &
  (
    | { type: 'RequestLogin'; linkId: string; email: string }
    | { type: 'RecordLoginMail'; linkId: string; isSent: boolean }
    | { type: 'OpenSession'; linkId: string; sessionId: string }
    | { type: 'RenewSession'; sessionId: string }
    | { type: 'EndSession'; sessionId: string }
  );

export type LoginEvent = AnalyticsEvent<
  'LoginRequested' | 'LoginMailed' | 'SessionOpened' | 'SessionRenewed' | 'SessionEnded'
>;

export const LINK_MS = 900_000;
export const SESSION_MS = 604_800_000;
const MAX_MAILS = 5;
const WINDOW_MS = 900_000;
/** Older sessions are dropped. */
const MAX_SESSIONS = 20;

export const loginStream = (addressId: string): string => `analytics.login-${addressId}`;

export const badLogin = rejection(
  'analytics/bad-link',
  'unauthenticated',
  'The link is invalid, was used or has expired',
);

const initialState: LoginState = { link: undefined, recent: [], sessions: [] };

/** Ignores times ahead of the clock too: after it was set back they would count until it catches up. */
const isWithin = (now: number) => (at: number) => Math.abs(now - at) < WINDOW_MS;

/** Returns the link if it can still be used. */
export const usableLink = ({ link }: LoginState, linkId: string, now: number): LoginLink | undefined =>
  link?.linkId === linkId && now < link.expiresAt ? link : undefined;

export const sessionOf = ({ sessions }: LoginState, id: string, now: number): LoginSession | undefined =>
  sessions.find(({ sessionId, expiresAt }) => sessionId === id && now < expiresAt);

/** Whether half of the session's lifetime has passed. */
export const needsRenewal = ({ expiresAt }: LoginSession, now: number): boolean => expiresAt - now < SESSION_MS / 2;

function decide(command: LoginCommand, state: LoginState): readonly LoginEvent[] | Rejection {
  const { addressId, now } = command;
  switch (command.type) {
    case 'RequestLogin': {
      // Not a rejection, as the answer must not depend on the email.
      if (state.recent.filter(isWithin(now)).length >= MAX_MAILS) return [];
      const { linkId, email } = command;
      const times = { requestedAt: now, expiresAt: now + LINK_MS };
      return [{ type: 'LoginRequested', data: { addressId, linkId, ...times, secret: { email } } }];
    }
    case 'RecordLoginMail': {
      const { linkId, isSent } = command;
      if (state.link?.linkId !== linkId || state.link.isDone) return [];
      return [{ type: 'LoginMailed', data: { addressId, linkId, mailedAt: now, isSent } }];
    }
    case 'OpenSession': {
      const { linkId, sessionId } = command;
      const link = usableLink(state, linkId, now);
      if (!link) return badLogin;
      const data = { addressId, sessionId, linkId, openedAt: now, expiresAt: now + SESSION_MS };
      return [{ type: 'SessionOpened', data: { ...data, secret: { email: link.email } } }];
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
  return { ...state, sessions: [...others, session].slice(-MAX_SESSIONS) };
}

const evolve: Evolve<LoginState, LoginEvent> = {
  LoginRequested: (state, { linkId, requestedAt, expiresAt, secret: { email } }) => ({
    ...state,
    link: { linkId, expiresAt, email, isDone: false },
    recent: [...state.recent.filter(isWithin(requestedAt)), requestedAt],
  }),
  LoginMailed: (state, { linkId }) =>
    state.link?.linkId === linkId ? { ...state, link: { ...state.link, isDone: true } } : state,
  SessionOpened(state, { linkId, sessionId, openedAt, expiresAt, secret: { email } }) {
    const remaining = state.link?.linkId === linkId ? { ...state, link: undefined } : state;
    return withSession(remaining, { sessionId, openedAt, expiresAt, email }, openedAt);
  },
  SessionRenewed: (state, { sessionId, openedAt, renewedAt, expiresAt, secret: { email } }) =>
    withSession(state, { sessionId, openedAt, expiresAt, email }, renewedAt),
  SessionEnded: (state, { sessionId }) => ({
    ...state,
    sessions: state.sessions.filter((each) => each.sessionId !== sessionId),
  }),
};

export const login: Decider<LoginState, LoginCommand, LoginEvent> = { initialState, decide, evolve };
