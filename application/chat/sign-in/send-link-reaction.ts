/** Process manager that mails requested links, also after a crash; addresses that may not have one get no mail. */

import { type ChatEvent, catalog } from '../../../domain/chat/catalog.js';
import type { Purpose } from '../../../domain/chat/one-time-links.js';
import { type EmailContent, type EmailCopy, renderLinkEmail } from '../../mail/link-email.js';
import type { Mailer, RecordedEvent } from '../../ports/index.js';
import { causedBy, type Reaction } from '../../subscription/index.js';
import type { ChatPorts } from './authenticate.js';
import type { Links } from './one-time-links.js';

export interface Templates {
  readonly text?: ((link: string, expiryMinutes: number) => string) | undefined;
  readonly html?: ((link: string, expiryMinutes: number) => string) | undefined;
}

export interface MailPorts extends Pick<ChatPorts, 'decryptEvent' | 'derivation' | 'logger' | 'admission'> {
  readonly mailer: Mailer;
  readonly links: Links;
  readonly appUrl: () => string;
  /** In password mode an invite asks for a first password. */
  readonly takesPasswords: boolean;
  readonly subject: string;
  readonly templates: Templates;
  /** Aborts sending; it is retried at the next start. */
  readonly signal: AbortSignal;
}

type LinkRequested = ChatEvent<'LinkRequested'>;

export function mailReaction(ports: MailPorts): Reaction<LinkRequested> {
  const { mailer, links, admission, decryptEvent, derivation, logger, takesPasswords, signal } = ports;

  async function recipient(event: RecordedEvent<LinkRequested>): Promise<string | undefined> {
    const { userId } = event.data;
    if (userId !== undefined) return (await admission.user({ id: userId }))?.email;
    const { data } = await decryptEvent(catalog, event);
    return data.secret.email || undefined;
  }

  async function mail(event: RecordedEvent<LinkRequested>) {
    const { data } = event;
    const { purpose, linkId, requestedAt, expiresAt } = data;
    // Already sent, expired, or superseded by a newer link.
    if (!(await links.isPending(data))) return;
    const email = await recipient(event);
    if (email === undefined) return;
    const token = await links.token({ purpose, linkId, email, requestedAt, expiresAt });
    const minutes = Math.round((expiresAt - requestedAt) / 60_000);
    const content = renderEmail(purpose, urlOf(ports.appUrl(), purpose, token, email), minutes, ports);
    const isSent = await mailer.send({ id: linkId, to: email, ...content }, signal);
    if (!isSent) logger.error({ purpose, link: linkId }, 'mail could not be delivered; giving up');
    await links.record(data, isSent, causedBy(derivation, 'chat.mail', event));
  }

  function urlOf(appUrl: string, purpose: Purpose, token: string, email: string): string {
    const setsPassword = purpose === 'reset' || (purpose === 'invite' && takesPasswords);
    const url = new URL(appUrl);
    if (setsPassword) url.pathname = `${url.pathname.replace(/\/$/, '')}/reset`;
    url.searchParams.set('token', token);
    url.searchParams.set('email', email);
    return url.href;
  }

  return { name: 'chat.mail', on: { LinkRequested: mail }, concurrent: true };
}

const WORDS: { readonly [purpose in Purpose]: EmailCopy } = {
  'magic-link': { subject: 'Your sign-in link', what: 'Sign in with this link:', button: 'Sign in' },
  invite: { subject: 'You are invited', what: 'You are invited. Join with this link:', button: 'Join' },
  reset: { subject: 'Set your password', what: 'Set a password with this link:', button: 'Set a password' },
};

export function renderEmail(
  purpose: Purpose,
  link: string,
  expiryMinutes: number,
  { subject, templates }: { readonly subject: string; readonly templates: Templates },
): EmailContent {
  const isSignIn = purpose === 'magic-link';
  const words = isSignIn ? { ...WORDS[purpose], subject } : WORDS[purpose];
  const email = renderLinkEmail(words, link, expiryMinutes);
  const own = isSignIn ? templates : {};
  return {
    ...email,
    text: own.text?.(link, expiryMinutes) ?? email.text,
    html: own.html?.(link, expiryMinutes) ?? email.html,
  };
}
