/** Signing in to the dashboard by a link that is mailed; sessions by a token of which only a hash is kept. */
import {
  badLogin,
  needsRenewal,
  LINK_MS,
  type LoginState,
  loginStream,
  openLink,
  SESSION_MS,
  sessionOf,
} from '../../domain/analytics/login.js';
import { loginsSubject } from '../../domain/analytics/login-events.js';
import { isEmail, isRejection, type Rejection, sameText, tidyEmail } from '../../domain/shared/index.js';
import type { AggregateStore, HandleCommand } from '../command/index.js';
import type { Clock, CommandContext, Derivation, EventLog, Position, Vault } from '../ports/index.js';
import { loginAggregate } from './aggregates.js';

export interface LoginPorts {
  readonly handle: HandleCommand;
  readonly streams: AggregateStore;
  readonly log: Pick<EventLog, 'retain'>;
  readonly vault: Pick<Vault, 'renew'>;
  readonly derivation: Derivation;
  readonly clock: Clock;
  /** Who may sign in, by their email in small letters. */
  readonly isAllowed: (email: string) => boolean;
}

/** Somebody who is signed in. */
export interface DashboardSession {
  readonly addressId: string;
  readonly sessionId: string;
  readonly email: string;
  /** Unix ms. */
  readonly expiresAt: number;
}

/** What a link or a session is known by: the address, so that its stream is found, and what nobody else can know. */
const TOKEN = /^([A-Za-z0-9_-]{16,64})\.([A-Za-z0-9_-]{43})$/;
const STREAM_SECONDS = (SESSION_MS + 86_400_000) / 1000;
const MOST_EMAIL = 254;

export type Logins = ReturnType<typeof createLogins>;

export function createLogins(ports: LoginPorts) {
  const { handle, streams, log, vault, derivation, clock } = ports;
  /** A list of several is no email: whoever stands beside one that may come in gets no mail. */
  const isAllowed = (email: string) => isEmail(email) && ports.isAllowed(email);

  const secretOf = (purpose: 'link' | 'session', id: string) =>
    derivation.secret(`analytics.${purpose}-token`, id).toString('base64url');
  const hashOf = (secret: string) => derivation.id('analytics.session', secret);
  const linkToken = (addressId: string, linkId: string) => `${addressId}.${secretOf('link', linkId)}`;

  function read(token: string | undefined) {
    const [, addressId, secret] = TOKEN.exec(token ?? '') ?? [];
    return addressId && secret ? { addressId, secret, stream: loginStream(addressId) } : undefined;
  }

  /** Of an address that was never asked for there is a stream that ends by itself. */
  const before = (expiresAt: number, stream: string) => async () => {
    const isNew = (await streams.load(loginAggregate, stream)).revision < 0;
    await Promise.all([
      vault.renew(loginsSubject({ expiresAt })),
      isNew ? log.retain(stream, { maxAgeSeconds: STREAM_SECONDS }) : undefined,
    ]);
    return undefined;
  };

  return {
    linkToken,

    /** Does, and answers, the same for every email. `isLimited`: too many links were requested, and none is mailed. */
    async request(
      given: string,
      context: CommandContext,
    ): Promise<{ position: Position; isLimited: boolean } | Rejection> {
      const email = tidyEmail(given).slice(0, MOST_EMAIL);
      const addressId = derivation.id('analytics.address', email);
      const linkId = derivation.id('analytics.link', context.commandId);
      const [stream, now] = [loginStream(addressId), clock.now()];
      const command = { type: 'RequestLogin' as const, addressId, linkId, email, now };
      const done = await handle(loginAggregate, stream, command, context, before(now + LINK_MS, stream));
      if (isRejection(done)) return done;
      // Over the limit nothing is appended.
      return { position: done.position, isLimited: done.events.length === 0 };
    },

    /** Whom the mail of this link is still to be sent to. */
    async pending(addressId: string, linkId: string): Promise<string | undefined> {
      const { state } = await streams.reload(loginAggregate, loginStream(addressId));
      const link = openLink(state, linkId, clock.now());
      return link && !link.isDone && isAllowed(link.email) ? link.email : undefined;
    },

    async record(addressId: string, linkId: string, isSent: boolean, context: CommandContext): Promise<void> {
      const command = { type: 'RecordLoginMail' as const, addressId, linkId, isSent, now: clock.now() };
      const done = await handle(loginAggregate, loginStream(addressId), command, context);
      if (isRejection(done)) throw new Error(done.rejected);
    },

    /** `email`: must be whose the link is, if it is given. Answers the token of the session. */
    async verify(token: string, email: string | undefined, context: CommandContext) {
      const given = read(token);
      if (!given) return badLogin;
      const { addressId, secret, stream } = given;
      if (email !== undefined && derivation.id('analytics.address', tidyEmail(email)) !== addressId) return badLogin;
      const now = clock.now();
      const { state } = await streams.reload(loginAggregate, stream);
      const own = secretOf('session', context.commandId);
      const sessionId = hashOf(own);
      const linkId = state.link?.linkId;
      const isKnown = linkId !== undefined && sameText(secret, secretOf('link', linkId));
      const again = state.sessions.some((each) => each.sessionId === sessionId);
      if (!again && (!isKnown || !isAllowed(state.link?.email ?? ''))) return badLogin;
      const command = { type: 'OpenSession' as const, addressId, linkId: linkId ?? '', sessionId, now };
      const done = await handle(loginAggregate, stream, command, context, before(now + SESSION_MS, stream));
      if (isRejection(done)) return done;
      const session = sessionOf(await done.state(), sessionId, now);
      if (!session) return badLogin;
      return { token: `${addressId}.${own}`, email: session.email, position: done.position };
    },

    /** Whose session a token is of; undefined where it is of none that lives. */
    async find(token: string | undefined): Promise<DashboardSession | undefined> {
      const given = read(token);
      if (!given) return undefined;
      const { addressId, secret, stream } = given;
      const sessionId = hashOf(secret);
      const of = (state: LoginState) => sessionOf(state, sessionId, clock.now());
      // Another node may have opened it a moment ago.
      const session =
        of((await streams.load(loginAggregate, stream)).state) ??
        of((await streams.reload(loginAggregate, stream)).state);
      if (!session || !isAllowed(session.email)) return undefined;
      return { addressId, ...session };
    },

    /** Whether its time begins anew, as half of it is over. */
    async renew(visitor: DashboardSession, context: CommandContext): Promise<boolean> {
      const { addressId, sessionId } = visitor;
      const now = clock.now();
      if (!needsRenewal({ ...visitor, openedAt: 0 }, now)) return false;
      const stream = loginStream(addressId);
      const command = { type: 'RenewSession' as const, addressId, sessionId, now };
      const done = await handle(loginAggregate, stream, command, context, before(now + SESSION_MS, stream));
      return !isRejection(done);
    },

    async end({ addressId, sessionId }: DashboardSession, context: CommandContext): Promise<Position | Rejection> {
      const command = { type: 'EndSession' as const, addressId, sessionId, now: clock.now() };
      const done = await handle(loginAggregate, loginStream(addressId), command, context);
      return isRejection(done) ? done : done.position;
    },
  };
}
