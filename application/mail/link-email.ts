/** A mail with a link that can be used once, in text and HTML. */

export interface EmailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface EmailCopy {
  readonly subject: string;
  /** Stands before the link. */
  readonly what: string;
  /** What the link is called. */
  readonly button: string;
}

export function renderLinkEmail(
  { subject, what, button }: EmailCopy,
  link: string,
  expiryMinutes: number,
): EmailContent {
  const lasts = `It can be used once, within ${duration(expiryMinutes)}. If you did not ask for it, do nothing.`;
  return {
    subject,
    text: `${what}\n\n${link}\n\n${lasts}\n`,
    html: `<p>${what}</p><p><a href="${escaped(link)}">${button}</a></p><p>${escaped(link)}</p><p>${lasts}</p>`,
  };
}

const DAY_MINUTES = 1440;

const duration = (minutes: number) =>
  minutes % DAY_MINUTES === 0 ? counted(minutes / DAY_MINUTES, 'day') : counted(minutes, 'minute');

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
