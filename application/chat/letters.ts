/** What mails say. */
import type { Purpose } from '../../domain/chat/address.js';

/** Bodies of the mail with a link to sign in, by the configuration. */
export interface Templates {
  readonly text?: ((link: string, expiryMinutes: number) => string) | undefined;
  readonly html?: ((link: string, expiryMinutes: number) => string) | undefined;
}

export interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const WORDS: {
  readonly [purpose in Purpose]: { readonly subject: string; readonly what: string; readonly button: string };
} = {
  'magic-link': { subject: 'Your sign-in link', what: 'Sign in with this link:', button: 'Sign in' },
  invite: { subject: 'You are invited', what: 'You are invited. Come in with this link:', button: 'Come in' },
  reset: { subject: 'Set your password', what: 'Set a password with this link:', button: 'Set a password' },
};

export function letterOf(
  purpose: Purpose,
  link: string,
  expiryMinutes: number,
  { subject, templates }: { readonly subject: string; readonly templates: Templates },
): Letter {
  const words = WORDS[purpose];
  const lasts = `It can be used once, within ${duration(expiryMinutes)}. If you did not ask for it, do nothing.`;
  const own = purpose === 'magic-link' ? templates : {};
  return {
    subject: purpose === 'magic-link' ? subject : words.subject,
    text: own.text?.(link, expiryMinutes) ?? `${words.what}\n\n${link}\n\n${lasts}\n`,
    html:
      own.html?.(link, expiryMinutes) ??
      `<p>${words.what}</p><p><a href="${escaped(link)}">${words.button}</a></p><p>${escaped(link)}</p><p>${lasts}</p>`,
  };
}

const DAY_MINUTES = 1440;

const duration = (minutes: number) =>
  minutes % DAY_MINUTES === 0 ? counted(minutes / DAY_MINUTES, 'day') : counted(minutes, 'minute');

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
