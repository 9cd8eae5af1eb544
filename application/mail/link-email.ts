/** Email template for a one-time link, in text and HTML. */

export interface EmailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface EmailCopy {
  readonly subject: string;
  /** Text before the link. */
  readonly what: string;
  readonly button: string;
}

export function renderLinkEmail(
  { subject, what, button }: EmailCopy,
  link: string,
  expiryMinutes: number,
): EmailContent {
  const notice = `It can be used once, within ${duration(expiryMinutes)}. If you did not ask for it, do nothing.`;
  return {
    subject,
    text: `${what}\n\n${link}\n\n${notice}\n`,
    html: `<p>${what}</p><p><a href="${escapeHtml(link)}">${button}</a></p><p>${escapeHtml(link)}</p><p>${notice}</p>`,
  };
}

const DAY_MINUTES = 1440;

const duration = (minutes: number) =>
  minutes % DAY_MINUTES === 0 ? pluralize(minutes / DAY_MINUTES, 'day') : pluralize(minutes, 'minute');

const pluralize = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
