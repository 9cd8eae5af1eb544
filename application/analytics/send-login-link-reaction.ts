/** Mails a sign-in link for every `LoginRequested` event of an allowed address; resumes after crashes. */

import type { AnalyticsEvent } from '../../domain/analytics/catalog.js';
import type { KernelPorts } from '../command/index.js';
import { renderLinkEmail } from '../mail/link-email.js';
import type { Mailer } from '../ports/index.js';
import { causedBy, type Reaction } from '../subscription/index.js';
import type { Logins } from './login.js';

export interface LoginMailPorts extends Pick<KernelPorts, 'derivation' | 'logger'> {
  /** If undefined, the link is logged instead. */
  readonly mailer: Mailer | undefined;
  readonly logins: Pick<Logins, 'pending' | 'record' | 'linkToken'>;
  /** Current public URL of the dashboard. */
  readonly appUrl: () => string;
  /** Aborts running deliveries; they are retried at the next start. */
  readonly signal: AbortSignal;
}

const EMAIL_COPY = { subject: 'Your sign-in link', what: 'Sign in with this link:', button: 'Sign in' };

export function loginMailReaction(ports: LoginMailPorts): Reaction<AnalyticsEvent<'LoginRequested'>> {
  const { mailer, logins, derivation, logger, appUrl, signal } = ports;

  async function deliver(id: string, to: string, link: string, minutes: number): Promise<boolean> {
    if (mailer) return mailer.send({ id, to, ...renderLinkEmail(EMAIL_COPY, link, minutes) }, signal);
    logger.warn({ link }, 'email.host is not set: use this sign-in link instead of a mail');
    return true;
  }

  return {
    name: 'analytics.login-mail',
    concurrent: true,
    on: {
      async LoginRequested(event) {
        const { addressId, linkId, requestedAt, expiresAt } = event.data;
        // Already sent, expired, replaced by a newer link, or the address may not sign in.
        const email = await logins.pending(addressId, linkId);
        if (email === undefined) return;
        // The page loads its assets by relative URLs, so the path must end with a slash.
        const url = new URL(appUrl().replace(/\/?$/, '/'));
        url.searchParams.set('token', logins.linkToken(addressId, linkId));
        url.searchParams.set('email', email);
        const isSent = await deliver(linkId, email, url.href, Math.round((expiresAt - requestedAt) / 60_000));
        if (!isSent) logger.error({ link: linkId }, 'mail server rejected the sign-in mail; giving up');
        await logins.record(addressId, linkId, isSent, causedBy(derivation, 'analytics.login-mail', event));
      },
    },
  };
}
