/** Dashboard sign-in by mailed link. Sessions are identified by a token, stored only as a hash. */

import { catalog, loginsSubject } from '../../domain/analytics/catalog.js';
import {
  badLinkOf,
  findSession,
  isEmail,
  isRejection,
  SESSION_EVENTS,
  type SessionCommand,
  sessionStreamOf,
} from '../../domain/shared/index.js';
import { type KernelPorts, nextContext } from '../command/index.js';
import { renderLinkEmail } from '../mail/link-email.js';
import { createOneTimeLinks, type LinkPorts, type LinkRequested, linkMailReaction } from '../mail/one-time-links.js';
import type { CommandContext, Mailer } from '../ports/index.js';
import type { Reaction } from '../subscription/index.js';
import { linksAggregate, sessionAggregate } from './aggregates.js';

type LinkPurpose = 'sign-in';

export interface LoginPorts
  extends Omit<LinkPorts<LinkPurpose>, 'service' | 'aggregate' | 'subject' | 'lifeSeconds' | 'recipientOf'> {
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

export const LINK_SECONDS = 900;
/** Token of a session: the address id, which names the stream, and a secret. */
const TOKEN = /^([A-Za-z0-9_-]{16,64})\.([A-Za-z0-9_-]{43})$/;
export const SESSION_MS = 604_800_000;
/** A new one ends the oldest. */
const MAX_SESSIONS = 20;
const STREAM_SECONDS = (SESSION_MS + 86_400_000) / 1000;
const MAX_EMAIL_LENGTH = 254;
const sessionStream = sessionStreamOf(catalog.service);

export type Logins = ReturnType<typeof createLogins>;

export function createLogins(ports: LoginPorts) {
  const { handle, aggregates, log, vault, derivation, clock } = ports;
  /** Checks the format first: in a list of addresses, others beside an allowed one must get no mail. */
  const isAllowed = (email: string) => isEmail(email) && ports.isAllowed(email);
  const links = createOneTimeLinks<LinkPurpose>({
    ...ports,
    service: catalog.service,
    aggregate: linksAggregate,
    subject: loginsSubject,
    lifeSeconds: { 'sign-in': LINK_SECONDS },
    recipientOf: async (_, email) => ({ email }),
  });

  const hashOf = (secret: string) => derivation.id('analytics.session', secret);

  function parseToken(token: string | undefined) {
    const [, addressId, secret] = TOKEN.exec(token ?? '') ?? [];
    return addressId && secret ? { addressId, sessionId: hashOf(secret) } : undefined;
  }

  function run(command: SessionCommand<{ readonly email: string }>, context: CommandContext) {
    const stream = sessionStream(command.userId);
    /** Creates the key that encrypts the email; lets a new stream expire. */
    const prepare = async () => {
      const isNew = (await aggregates.load(sessionAggregate, stream)).revision < 0;
      await Promise.all([
        'expiresAt' in command ? vault.renew(loginsSubject(command)) : undefined,
        isNew ? log.retain(stream, { maxAgeSeconds: STREAM_SECONDS, maxCount: SESSION_EVENTS }) : undefined,
      ]);
    };
    return handle(sessionAggregate, stream, command, context, prepare);
  }

  return {
    links,
    isAllowed,

    /** Requests a link. Behaves alike for every email. `isLimited`: too many requests, so no link is mailed. */
    request: (email: string, context: CommandContext) =>
      links.request('sign-in', email.trim().slice(0, MAX_EMAIL_LENGTH), context),

    /** Opens a session by a link and returns its token. If `email` is given, it must match the link. */
    async verify(token: string, email: string | undefined, context: CommandContext) {
      const link = await links.read(token, ['sign-in'], email);
      if (isRejection(link)) return link;
      if (!isAllowed(link.email)) return badLink;
      const spent = await links.spend(link, nextContext(derivation, 'analytics.spend-link', context));
      if (isRejection(spent)) return spent;
      const { addressId: userId, email: linked } = link;
      const now = clock.now();
      const secret = derivation.secret('analytics.session-token', context.commandId).toString('base64url');
      const session = { sessionId: hashOf(secret), expiresAt: now + SESSION_MS, most: MAX_SESSIONS };
      const command = { type: 'OpenSession' as const, userId, ...session, secret: { email: linked }, now };
      const result = await run(command, context);
      if (isRejection(result)) return result;
      return { token: `${userId}.${secret}`, email: linked, position: result.position };
    },

    /** Finds the session of a token; undefined if there is none or it has expired. */
    async find(token: string | undefined): Promise<DashboardSession | undefined> {
      const parsed = parseToken(token);
      if (!parsed) return undefined;
      const { addressId, sessionId } = parsed;
      const stream = sessionStream(addressId);
      // Another node may have opened the session a moment ago.
      const session =
        findSession((await aggregates.load(sessionAggregate, stream)).state, sessionId, clock.now()) ??
        findSession((await aggregates.reload(sessionAggregate, stream)).state, sessionId, clock.now());
      if (!session || !isAllowed(session.secret.email)) return undefined;
      return { addressId, sessionId, expiresAt: session.expiresAt, email: session.secret.email };
    },

    /** Extends a session after half of its lifetime; returns whether it did. */
    async renew({ addressId, sessionId, expiresAt }: DashboardSession, context: CommandContext): Promise<boolean> {
      const now = clock.now();
      if (expiresAt - now >= SESSION_MS / 2) return false;
      const about = { userId: addressId, sessionId, expiresAt: now + SESSION_MS, now };
      return !isRejection(await run({ type: 'RefreshSession', ...about }, context));
    },

    async end({ addressId: userId, sessionId }: DashboardSession, context: CommandContext) {
      const result = await run({ type: 'EndSession', userId, sessionId, reason: 'logout', now: clock.now() }, context);
      return isRejection(result) ? result : result.position;
    },
  };
}

const badLink = badLinkOf(catalog.service);

export interface LoginMailPorts extends Pick<KernelPorts, 'decryptEvent' | 'derivation' | 'logger'> {
  /** If undefined, the link is logged instead. */
  readonly mailer: Mailer | undefined;
  readonly logins: Pick<Logins, 'links' | 'isAllowed'>;
  /** Current public URL of the dashboard. */
  readonly appUrl: () => string;
  /** Aborts running deliveries; they are retried at the next start. */
  readonly signal: AbortSignal;
}

const EMAIL_COPY = { subject: 'Your sign-in link', what: 'Sign in with this link:', button: 'Sign in' };

export function loginMailReaction(ports: LoginMailPorts): Reaction<LinkRequested> {
  const { mailer, logins, decryptEvent, logger, appUrl, signal } = ports;
  return linkMailReaction<LinkPurpose>({
    ...ports,
    name: 'analytics.login-mail',
    links: logins.links,
    async addressOf(event) {
      const { email } = (await decryptEvent<LinkRequested>(catalog, event)).data.secret;
      return logins.isAllowed(email) ? email : undefined;
    },
    // The page loads its assets by relative URLs, so the path must end with a slash.
    pageOf: () => new URL(appUrl().replace(/\/?$/, '/')),
    async deliver({ id, to, link, minutes }) {
      if (mailer) return mailer.send({ id, to, ...renderLinkEmail(EMAIL_COPY, link, minutes) }, signal);
      logger.warn({ link }, 'email.host is not set: use this sign-in link instead of a mail');
      return true;
    },
  });
}
