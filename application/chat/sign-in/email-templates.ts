/** Renders sign-in, invite and password emails. */
import type { Purpose } from '../../../domain/chat/one-time-links.js';
import { type EmailContent, type EmailCopy, renderLinkEmail } from '../../mail/link-email.js';

/** Configured bodies of the sign-in email. */
export interface Templates {
  readonly text?: ((link: string, expiryMinutes: number) => string) | undefined;
  readonly html?: ((link: string, expiryMinutes: number) => string) | undefined;
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
