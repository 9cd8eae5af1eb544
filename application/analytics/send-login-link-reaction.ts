/** Links to sign in go out once the log says that one was asked for, after crashes too; whoever may not come in gets none. */
import type { AnalyticsEvent } from '../../domain/analytics/catalog.js';
import { renderLinkEmail } from '../mail/link-email.js';
import type { Derivation, Logger, Mailer } from '../ports/index.js';
import { causedBy, type Reaction } from '../subscription/index.js';
import type { Logins } from './login.js';

export interface LoginMailPorts {
  /** Without one the link is told in the log of the program. */
  readonly mailer: Mailer | undefined;
  readonly logins: Pick<Logins, 'pending' | 'record' | 'linkToken'>;
  readonly derivation: Derivation;
  readonly logger: Logger;
  /** Where people reach the dashboard, at this moment. */
  readonly appUrl: () => string;
  /** Ends what is under way; it begins anew at the next start. */
  readonly signal: AbortSignal;
}

const WORDS = { subject: 'Your sign-in link', what: 'Sign in with this link:', button: 'Sign in' };

export function loginMailReaction(ports: LoginMailPorts): Reaction<AnalyticsEvent<'LoginRequested'>> {
  const { mailer, logins, derivation, logger, appUrl, signal } = ports;

  async function post(id: string, to: string, link: string, minutes: number): Promise<boolean> {
    if (mailer) return mailer.send({ id, to, ...renderLinkEmail(WORDS, link, minutes) }, signal);
    logger.warn({ link }, 'without email.host no mail is sent: this link signs in');
    return true;
  }

  return {
    name: 'analytics.login-mail',
    concurrent: true,
    on: {
      async LoginRequested(event) {
        const { addressId, linkId, requestedAt, expiresAt } = event.data;
        // Sent before a crash, over, or followed by a newer one; or nobody's who may come in.
        const email = await logins.pending(addressId, linkId);
        if (email === undefined) return;
        // Below a path it is a folder all the same: the page asks for its parts beside it.
        const url = new URL(appUrl().replace(/\/?$/, '/'));
        url.searchParams.set('token', logins.linkToken(addressId, linkId));
        url.searchParams.set('email', email);
        const isSent = await post(linkId, email, url.href, Math.round((expiresAt - requestedAt) / 60_000));
        if (!isSent) logger.error({ link: linkId }, 'a mail was not taken, and is given up');
        await logins.record(addressId, linkId, isSent, causedBy(derivation, 'analytics.login-mail', event));
      },
    },
  };
}
