/** Sessions: opened by a sign-in, kept up by refresh tokens, ended one by one or together. */
import type { User } from '../../../domain/chat/roster.js';
import {
  activeSessions,
  SESSION_EVENTS,
  type Session,
  type SessionEvent,
  type SessionsState,
  sessionEnded,
  sessionStream,
  sessionWith,
} from '../../../domain/chat/session.js';
import { isRejection, type Rejection, truncate } from '../../../domain/shared/index.js';
import type { HandleCommand, Handled, Idempotency } from '../../command/index.js';
import type { Clock, CommandContext, Derivation, EventLog, Position, Quota } from '../../ports/index.js';
import { sessionAggregate } from '../aggregates.js';
import { type Authentication, type Caller, unauthorized } from './authenticate.js';
import type { Tokens } from './tokens.js';

export interface SessionPorts {
  readonly handle: HandleCommand;
  readonly repetition: Idempotency;
  readonly log: Pick<EventLog, 'retain'>;
  readonly derivation: Derivation;
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly admission: Authentication;
  readonly jwtExpirySeconds: number;
  readonly refreshTokenExpirySeconds: number;
  readonly maxActiveSessions: number;
  /** Of each user: what sessions come to is kept for as long as they may live, and read before anything is decided. */
  readonly sessionQuota: (userId: string) => Quota;
}

/** What a sign-in says of where it came from. */
export interface From {
  readonly ip: string;
  /** What is counted as one caller. */
  readonly network: string;
  readonly userAgent: string;
}

interface Opening {
  readonly alone?: boolean;
  readonly mailed?: boolean;
  readonly recheck?: () => Promise<boolean>;
}

/** What is handed out at a sign-in; `exp` in seconds from now. */
export interface SignedIn {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly exp: number;
  readonly tokenType: 'Bearer';
}

export interface CommandResult<Body> {
  readonly body: Body;
  readonly position: Position;
}

export interface SessionView extends Omit<Session, 'generation'> {
  readonly isCurrentSession: boolean;
}

/** Which of the caller's sessions end. */
export interface Revoked {
  readonly sessionId?: string;
  /** Of the one to keep. */
  readonly refreshToken?: string;
}

type RowMapper = Extract<SessionEvent, { type: 'SessionOpened' | 'SessionRefreshed' }>;

const DAY_SECONDS = 86_400;
const LONGEST_USER_AGENT = 256;

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(ports: SessionPorts) {
  const { handle, repetition, log, derivation, clock, tokens, admission, sessionQuota } = ports;
  const { jwtExpirySeconds, refreshTokenExpirySeconds, maxActiveSessions } = ports;

  const lifeMs = refreshTokenExpirySeconds * 1000;

  /** Older events are of sessions that are over, as each tells all of its own: unless one is to live longer than those. */
  const retentionOf = (stream: string) => async () => {
    const { state } = await admission.load(sessionAggregate, stream);
    const longest = Math.max(0, ...state.sessions.map((each) => each.expiresAt - each.lastUsedAt));
    const maxAgeSeconds = refreshTokenExpirySeconds + DAY_SECONDS;
    if (longest < lifeMs) await log.retain(stream, { maxAgeSeconds, maxCount: SESSION_EVENTS });
    return undefined;
  };

  async function signedIn(
    user: Pick<User, 'id' | 'userName' | 'isAdmin'>,
    session: Pick<Session, 'id' | 'generation'>,
    at: number,
  ): Promise<SignedIn> {
    const accessToken = await tokens.access(user, session, at);
    const { id: sessionId, generation } = session;
    const refreshToken = tokens.refresh({ userId: user.id, sessionId, generation });
    return { accessToken, refreshToken, exp: jwtExpirySeconds, tokenType: 'Bearer' };
  }

  /**
   * A sign-in of somebody who has been found to be who they say. `alone` ends all other sessions of theirs. By a link that
   * was `mailed` it counts towards nothing: of these there are few, and whoever has stolen a session, and goes on with it as
   * often as they may, would keep its owner out. `holds` is asked once it is open: where what it was opened by holds no
   * longer, it ends, as if that had come just after.
   */
  async function open(
    user: Pick<User, 'id' | 'userName' | 'isAdmin'>,
    { ip, userAgent }: Omit<From, 'network'>,
    context: CommandContext,
    { alone = false, mailed = false, recheck = async () => true }: Opening = {},
  ): Promise<CommandResult<SignedIn> | Rejection> {
    const { id: userId } = user;
    const stream = sessionStream(userId);
    const sessionId = derivation.id('chat.session', context.commandId);
    const now = clock.now();
    const session = { sessionId, expiresAt: now + lifeMs, most: maxActiveSessions, alone };
    const from = { ip, userAgent: truncate(userAgent, LONGEST_USER_AGENT) };
    const command = { type: 'OpenSession' as const, userId, ...session, ...from, now };
    const { quota: _, ...free } = { ...context, actor: userId };
    const by = mailed ? free : { ...free, quota: sessionQuota(userId) };
    const outcome = await handle(sessionAggregate, stream, command, by, retentionOf(stream));
    if (isRejection(outcome)) return outcome;
    const at = openedEvent(outcome)?.data.lastUsedAt ?? now;
    const body = await signedIn(user, { id: sessionId, generation: 0 }, at);
    if (await recheck()) return { body, position: outcome.position };
    const commandId = derivation.id('chat.end-session', context.commandId);
    const end = { type: 'EndSession' as const, userId, sessionId, reason: 'password' as const, now };
    const ended = await handle(sessionAggregate, stream, end, { ...free, commandId });
    return isRejection(ended) ? ended : { body, position: ended.position };
  }

  async function refresh(refreshToken: string, context: CommandContext): Promise<CommandResult<SignedIn> | Rejection> {
    const presented = tokens.readRefresh(refreshToken);
    if (!presented) return sessionEnded;
    const { userId, sessionId } = presented;
    const user = await admission.user({ id: userId });
    if (!user) return sessionEnded;
    const now = clock.now();
    const command = { type: 'RefreshSession' as const, ...presented, expiresAt: now + lifeMs, now };
    const by = { ...context, actor: userId, quota: sessionQuota(userId) };
    const stream = sessionStream(userId);
    const outcome = await handle(sessionAggregate, stream, command, by, retentionOf(stream));
    if (isRejection(outcome)) return outcome;
    const refreshed = openedEvent(outcome)?.data;
    const generation = refreshed?.generation ?? sessionWith(await outcome.state(), sessionId, now)?.generation;
    if (generation === undefined) return sessionEnded;
    const session = { id: sessionId, generation };
    return {
      body: await signedIn(user, session, refreshed?.lastUsedAt ?? now),
      position: outcome.position,
    };
  }

  /** Ends the session of a refresh token of the caller's, or the one that they call with. */
  async function logout(
    { userId, sessionId }: Pick<Caller, 'userId' | 'sessionId'>,
    refreshToken: string | undefined,
    context: CommandContext,
  ): Promise<CommandResult<object> | Rejection> {
    const target = refreshToken === undefined ? { userId, sessionId } : tokens.readRefresh(refreshToken);
    if (target?.userId !== userId) return unauthorized;
    const end = { type: 'EndSession' as const, userId, sessionId: target.sessionId, now: clock.now() };
    const outcome = await handle(sessionAggregate, sessionStream(userId), { ...end, reason: 'logout' }, context);
    return isRejection(outcome) ? outcome : loggedOut(outcome);
  }

  /** What a logout was answered, if this very command was one. */
  async function wasLoggedOut(
    userId: string,
    context: CommandContext,
  ): Promise<CommandResult<object> | Rejection | undefined> {
    const found = await repetition.findResult(sessionAggregate, sessionStream(userId), context);
    return found && (isRejection(found) ? found : loggedOut(found));
  }

  async function revoke(
    { userId, sessionId }: Caller,
    { sessionId: one, refreshToken }: Revoked,
    context: CommandContext,
  ): Promise<CommandResult<object> | Rejection> {
    const exempt = refreshToken === undefined ? { userId, sessionId } : tokens.readRefresh(refreshToken);
    if (exempt?.userId !== userId) return unauthorized;
    const about = { userId, reason: 'revoked' as const, now: clock.now() };
    const command =
      one === undefined
        ? { type: 'EndSessions' as const, except: exempt.sessionId, ...about }
        : { type: 'EndSession' as const, sessionId: one, ...about };
    const outcome = await handle(sessionAggregate, sessionStream(userId), command, context);
    if (isRejection(outcome)) return outcome;
    const revoked = outcome.events.length;
    return {
      body: { success: true, message: `${revoked} sessions ended`, revoked },
      position: outcome.position,
    };
  }

  /** All sessions of somebody end. */
  async function endAll(
    userId: string,
    reason: 'password' | 'removed',
    context: CommandContext,
  ): Promise<CommandResult<object> | Rejection> {
    const command = { type: 'EndSessions' as const, userId, reason, now: clock.now() };
    const outcome = await handle(sessionAggregate, sessionStream(userId), command, context);
    return isRejection(outcome) ? outcome : { body: {}, position: outcome.position };
  }

  /** The caller's own, newest first. */
  async function list(
    { userId, sessionId }: Caller,
    seen?: Position,
  ): Promise<CommandResult<{ readonly sessions: readonly SessionView[] }>> {
    const { state, position } = await admission.load(sessionAggregate, sessionStream(userId), seen);
    const sessions = activeSessions(state, clock.now())
      .toReversed()
      .map(({ generation: _, ...session }) => ({ ...session, isCurrentSession: session.id === sessionId }));
    return { body: { sessions }, position };
  }

  return { open, refresh, logout, wasLoggedOut, revoke, endAll, list };
}

const openedEvent = ({ events }: Handled<SessionsState, SessionEvent>) =>
  events.find((event): event is RowMapper => event.type === 'SessionOpened' || event.type === 'SessionRefreshed');

const loggedOut = ({ position }: Handled<unknown>) => ({
  body: { success: true, message: 'Signed out' },
  position,
});
