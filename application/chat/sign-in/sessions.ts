/** Use cases on sessions: open, refresh, end, list. */

import type { ChatEvent } from '../../../domain/chat/catalog.js';
import type { SessionSecret } from '../../../domain/chat/events/sign-in.js';
import type { User } from '../../../domain/chat/roster.js';
import {
  activeSessions,
  findSession,
  isRejection,
  SESSION_EVENTS,
  type SessionCommand,
  type SessionEvent,
  sessionEndedOf,
  truncate,
} from '../../../domain/shared/index.js';
import { type CommandOutcome, type KernelPorts, nextContext, resultOf } from '../../command/index.js';
import type { CommandContext, Position, Quota, RecordedEvent } from '../../ports/index.js';
import { causedBy, type Reaction } from '../../subscription/index.js';
import { sessionAggregate, sessionStream } from '../aggregates.js';
import {
  type Caller,
  type ChatPorts,
  type SignedIn,
  type TokenSession,
  type Tokens,
  unauthorized,
} from './authenticate.js';

export interface SessionPorts
  extends Pick<ChatPorts, 'handle' | 'idempotency' | 'log' | 'derivation' | 'clock' | 'admission'> {
  readonly tokens: Tokens;
  readonly refreshTokenExpirySeconds: number;
  readonly maxActiveSessions: number;
  /** Quota per user: session events are kept for the session lifetime and read before each decision. */
  readonly sessionQuota: (userId: string) => Quota;
}

export interface SignInOrigin {
  readonly ip: string;
  /** Network counted as one caller. */
  readonly network: string;
  readonly userAgent: string;
}

interface OpenOptions {
  readonly alone?: boolean;
  readonly mailed?: boolean;
  readonly recheck?: () => Promise<boolean>;
}

export interface SessionSelection {
  readonly sessionId?: string;
  /** Refresh token of the session to keep. */
  readonly refreshToken?: string;
}

const DAY_SECONDS = 86_400;
const MAX_USER_AGENT = 256;
const sessionEnded = sessionEndedOf('chat');

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(ports: SessionPorts) {
  const { handle, idempotency, log, derivation, clock, tokens, admission, sessionQuota } = ports;
  const { refreshTokenExpirySeconds, maxActiveSessions } = ports;

  const lifeMs = refreshTokenExpirySeconds * 1000;
  const run = (command: SessionCommand<SessionSecret>, context: CommandContext, beforeAppend?: () => Promise<void>) =>
    handle(sessionAggregate, sessionStream(command.userId), command, context, beforeAppend);

  /** Sets the retention of the stream, so that events of expired sessions are dropped, unless it is already as long. */
  const ensureRetention = (userId: string) => async () => {
    const stream = sessionStream(userId);
    const { state } = await admission.load(sessionAggregate, stream);
    const longest = Math.max(0, ...state.sessions.map((each) => each.expiresAt - each.lastUsedAt));
    const maxAgeSeconds = refreshTokenExpirySeconds + DAY_SECONDS;
    if (longest < lifeMs) await log.retain(stream, { maxAgeSeconds, maxCount: SESSION_EVENTS });
  };

  /**
   * Opens a session for an authenticated user.
   *
   * `alone` ends all other sessions. `mailed` (sign-in by an emailed link) is exempt from the quota: such links are
   * few, and the thief of a session could otherwise lock out its owner by refreshing at the limit. `recheck` runs once
   * the session is open; if it resolves false, the session is ended again.
   */
  async function open(
    user: Pick<User, 'id' | 'userName' | 'isAdmin'>,
    { ip, userAgent }: Omit<SignInOrigin, 'network'>,
    context: CommandContext,
    { alone = false, mailed = false, recheck = async () => true }: OpenOptions = {},
  ): CommandOutcome<SignedIn> {
    const { id: userId } = user;
    const sessionId = derivation.id('chat.session', context.commandId);
    const now = clock.now();
    const session = { sessionId, expiresAt: now + lifeMs, most: maxActiveSessions, alone };
    const secret = { ip, userAgent: truncate(userAgent, MAX_USER_AGENT) };
    const command = { type: 'OpenSession' as const, userId, ...session, secret, now };
    const { quota: _, ...free } = { ...context, actor: userId };
    const by = mailed ? free : { ...free, quota: sessionQuota(userId) };
    const outcome = await run(command, by, ensureRetention(userId));
    if (isRejection(outcome)) return outcome;
    // A repetition finds no event if the stream has dropped it.
    const fresh = { id: sessionId, generation: 0, lastUsedAt: now, expiresAt: command.expiresAt };
    const body = await tokens.issue(user, findOpened(outcome) ?? fresh);
    if (await recheck()) return { body, position: outcome.position };
    const end = { type: 'EndSession' as const, userId, sessionId, reason: 'password' as const, now };
    return resultOf(await run(end, nextContext(derivation, 'chat.end-session', free)), body);
  }

  async function refresh(refreshToken: string, context: CommandContext): CommandOutcome<SignedIn> {
    const presented = await tokens.readRefresh(refreshToken);
    if (!presented) return sessionEnded;
    const { userId, sessionId } = presented;
    const user = await admission.user({ id: userId });
    if (!user) return sessionEnded;
    const now = clock.now();
    const command = { type: 'RefreshSession' as const, ...presented, expiresAt: now + lifeMs, now };
    const by = { ...context, actor: userId, quota: sessionQuota(userId) };
    const outcome = await run(command, by, ensureRetention(userId));
    if (isRejection(outcome)) return outcome;
    // No event: another tab has refreshed the session just now.
    const session = findOpened(outcome) ?? findSession(await outcome.state(), sessionId, now);
    if (!session) return sessionEnded;
    return { body: await tokens.issue(user, session), position: outcome.position };
  }

  async function logout(
    { userId, sessionId }: Pick<Caller, 'userId' | 'sessionId'>,
    refreshToken: string | undefined,
    context: CommandContext,
  ): CommandOutcome<object> {
    const target = refreshToken === undefined ? { userId, sessionId } : await tokens.readRefresh(refreshToken);
    if (target?.userId !== userId) return unauthorized;
    const about = { userId, sessionId: target.sessionId, now: clock.now() };
    const outcome = await run({ type: 'EndSession', reason: 'logout', ...about }, context);
    return resultOf(outcome, SIGNED_OUT);
  }

  async function findLogoutResult(userId: string, context: CommandContext) {
    const found = await idempotency.findResult(sessionAggregate, sessionStream(userId), context);
    return found && resultOf(found, SIGNED_OUT);
  }

  async function revoke(
    { userId, sessionId }: Caller,
    { sessionId: one, refreshToken }: SessionSelection,
    context: CommandContext,
  ): CommandOutcome<object> {
    const exempt = refreshToken === undefined ? { userId, sessionId } : await tokens.readRefresh(refreshToken);
    if (exempt?.userId !== userId) return unauthorized;
    const about = { userId, reason: 'revoked' as const, now: clock.now() };
    const command =
      one === undefined
        ? { type: 'EndSessions' as const, except: exempt.sessionId, ...about }
        : { type: 'EndSession' as const, sessionId: one, ...about };
    const outcome = await run(command, context);
    const revoked = isRejection(outcome) ? 0 : outcome.events.length;
    return resultOf(outcome, { success: true, message: `${revoked} sessions ended`, revoked });
  }

  /** After a password change. */
  const endAll = (userId: string, context: CommandContext) =>
    run({ type: 'EndSessions', userId, reason: 'password', now: clock.now() }, context);

  async function list({ userId, sessionId }: Caller, seen?: Position) {
    const { state, position } = await admission.load(sessionAggregate, sessionStream(userId), seen);
    const sessions = activeSessions(state, clock.now())
      .toReversed()
      .map(({ generation: _, secret, ...session }) => ({
        ...session,
        ...secret,
        isCurrentSession: session.id === sessionId,
      }));
    return { body: { sessions }, position };
  }

  return { open, refresh, logout, findLogoutResult, revoke, endAll, list };
}

/** The session that a command has opened or refreshed. */
function findOpened({ events }: { readonly events: readonly SessionEvent<SessionSecret>[] }): TokenSession | undefined {
  for (const event of events) if (event.type !== 'SessionEnded') return { ...event.data, id: event.data.sessionId };
  return undefined;
}

const SIGNED_OUT = { success: true, message: 'Signed out' };

type DeparturePorts = Pick<KernelPorts, 'handle' | 'derivation' | 'clock'>;

type Departure = ChatEvent<'UserRemoved' | 'UserLeft' | 'PasswordSet'>;

/** Ends sessions when a user leaves or is removed, or a password changes, also after a crash. */
export function departureReaction({ handle, derivation, clock }: DeparturePorts): Reaction<Departure> {
  async function end(event: RecordedEvent<Departure>) {
    const { type, data } = event;
    const { userId } = data;
    const before = type === 'PasswordSet' ? { before: data.setAt } : {};
    const reason = type === 'PasswordSet' ? ('password' as const) : ('removed' as const);
    const outcome = await handle(
      sessionAggregate,
      sessionStream(userId),
      { type: 'EndSessions', userId, reason, now: clock.now(), ...before },
      causedBy(derivation, 'chat.departure', event),
    );
    // Streams of erased users are tombstoned.
    if (isRejection(outcome) && outcome.kind !== 'gone') throw new Error(outcome.rejected);
  }
  return { name: 'chat.departure', on: { UserRemoved: end, UserLeft: end, PasswordSet: end } };
}
