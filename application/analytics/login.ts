/** Dashboard sign-in by mailed link. Sessions are identified by a token, stored only as a hash. */

import { loginsSubject } from '../../domain/analytics/catalog.js';
import {
  badLogin,
  LINK_MS,
  type LoginState,
  loginStream,
  needsRenewal,
  SESSION_MS,
  sessionOf,
  usableLink,
} from '../../domain/analytics/login.js';
import { isEmail, isRejection, type Rejection, sameText, tidyEmail } from '../../domain/shared/index.js';
import type { KernelPorts } from '../command/index.js';
import type { CommandContext, EventLog, Position, Vault } from '../ports/index.js';
import { loginAggregate } from './aggregates.js';

export interface LoginPorts extends Pick<KernelPorts, 'handle' | 'aggregates' | 'derivation' | 'clock'> {
  readonly log: Pick<EventLog, 'retain'>;
  readonly vault: Pick<Vault, 'renew'>;
  /** Whether an email, in lower case, may sign in. */
  readonly isAllowed: (email: string) => boolean;
}

/** A session of a signed-in user. */
export interface DashboardSession {
  readonly addressId: string;
  readonly sessionId: string;
  readonly email: string;
  /** Unix ms. */
  readonly expiresAt: number;
}

/** Token of a link or session: the address id, which names the stream, and a secret. */
const TOKEN = /^([A-Za-z0-9_-]{16,64})\.([A-Za-z0-9_-]{43})$/;
const STREAM_SECONDS = (SESSION_MS + 86_400_000) / 1000;
const MAX_EMAIL_LENGTH = 254;

export type Logins = ReturnType<typeof createLogins>;

export function createLogins(ports: LoginPorts) {
  const { handle, aggregates, log, vault, derivation, clock } = ports;
  /** Checks the format first: in a list of addresses, others beside an allowed one must get no mail. */
  const isAllowed = (email: string) => isEmail(email) && ports.isAllowed(email);

  const secretOf = (purpose: 'link' | 'session', id: string) =>
    derivation.secret(`analytics.${purpose}-token`, id).toString('base64url');
  const hashOf = (secret: string) => derivation.id('analytics.session', secret);
  const linkToken = (addressId: string, linkId: string) => `${addressId}.${secretOf('link', linkId)}`;

  function parseToken(token: string | undefined) {
    const [, addressId, secret] = TOKEN.exec(token ?? '') ?? [];
    return addressId && secret ? { addressId, secret, stream: loginStream(addressId) } : undefined;
  }

  /** Creates the key that encrypts the email; lets a new stream expire. */
  const prepareStream = (expiresAt: number, stream: string) => async () => {
    const isNew = (await aggregates.load(loginAggregate, stream)).revision < 0;
    await Promise.all([
      vault.renew(loginsSubject({ expiresAt })),
      isNew ? log.retain(stream, { maxAgeSeconds: STREAM_SECONDS }) : undefined,
    ]);
  };

  return {
    linkToken,

    /** Requests a link. Behaves alike for every email. `isLimited`: too many requests, so no link is mailed. */
    async request(address: string, context: CommandContext) {
      const email = tidyEmail(address).slice(0, MAX_EMAIL_LENGTH);
      const addressId = derivation.id('analytics.address', email);
      const linkId = derivation.id('analytics.link', context.commandId);
      const [stream, now] = [loginStream(addressId), clock.now()];
      const command = { type: 'RequestLogin' as const, addressId, linkId, email, now };
      const result = await handle(loginAggregate, stream, command, context, prepareStream(now + LINK_MS, stream));
      if (isRejection(result)) return result;
      // No event means that the limit is exceeded.
      return { position: result.position, isLimited: result.events.length === 0 };
    },

    /** Returns the email that a link must still be sent to, if any. */
    async pending(addressId: string, linkId: string): Promise<string | undefined> {
      const { state } = await aggregates.reload(loginAggregate, loginStream(addressId));
      const link = usableLink(state, linkId, clock.now());
      return link && !link.isDone && isAllowed(link.email) ? link.email : undefined;
    },

    async record(addressId: string, linkId: string, isSent: boolean, context: CommandContext): Promise<void> {
      const command = { type: 'RecordLoginMail' as const, addressId, linkId, isSent, now: clock.now() };
      const result = await handle(loginAggregate, loginStream(addressId), command, context);
      if (isRejection(result)) throw new Error(result.rejected);
    },

    /** Opens a session by a link and returns its token. If `email` is given, it must match the link. */
    async verify(token: string, email: string | undefined, context: CommandContext) {
      const parsed = parseToken(token);
      if (!parsed) return badLogin;
      const { addressId, secret, stream } = parsed;
      if (email !== undefined && derivation.id('analytics.address', tidyEmail(email)) !== addressId) return badLogin;
      const now = clock.now();
      const { state } = await aggregates.reload(loginAggregate, stream);
      const sessionSecret = secretOf('session', context.commandId);
      const sessionId = hashOf(sessionSecret);
      const linkId = state.link?.linkId;
      const isKnown = linkId !== undefined && sameText(secret, secretOf('link', linkId));
      const isRepeated = state.sessions.some((each) => each.sessionId === sessionId);
      if (!isRepeated && (!isKnown || !isAllowed(state.link?.email ?? ''))) return badLogin;
      const command = { type: 'OpenSession' as const, addressId, linkId: linkId ?? '', sessionId, now };
      const result = await handle(loginAggregate, stream, command, context, prepareStream(now + SESSION_MS, stream));
      if (isRejection(result)) return result;
      const session = sessionOf(await result.state(), sessionId, now);
      if (!session) return badLogin;
      return { token: `${addressId}.${sessionSecret}`, email: session.email, position: result.position };
    },

    /** Finds the session of a token; undefined if there is none or it has expired. */
    async find(token: string | undefined): Promise<DashboardSession | undefined> {
      const parsed = parseToken(token);
      if (!parsed) return undefined;
      const { addressId, secret, stream } = parsed;
      const sessionId = hashOf(secret);
      const sessionIn = (state: LoginState) => sessionOf(state, sessionId, clock.now());
      // Another node may have opened the session a moment ago.
      const session =
        sessionIn((await aggregates.load(loginAggregate, stream)).state) ??
        sessionIn((await aggregates.reload(loginAggregate, stream)).state);
      if (!session || !isAllowed(session.email)) return undefined;
      return { addressId, ...session };
    },

    /** Extends a session after half of its lifetime; returns whether it did. */
    async renew(session: DashboardSession, context: CommandContext): Promise<boolean> {
      const { addressId, sessionId } = session;
      const now = clock.now();
      if (!needsRenewal({ ...session, openedAt: 0 }, now)) return false;
      const stream = loginStream(addressId);
      const command = { type: 'RenewSession' as const, addressId, sessionId, now };
      const result = await handle(loginAggregate, stream, command, context, prepareStream(now + SESSION_MS, stream));
      return !isRejection(result);
    },

    async end({ addressId, sessionId }: DashboardSession, context: CommandContext): Promise<Position | Rejection> {
      const command = { type: 'EndSession' as const, addressId, sessionId, now: clock.now() };
      const result = await handle(loginAggregate, loginStream(addressId), command, context);
      return isRejection(result) ? result : result.position;
    },
  };
}
