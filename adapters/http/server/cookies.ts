/** Reads and sets cookies (RFC 6265), and checks the origin of requests authenticated by them. */
import type { GuardedRequest } from './policy.js';

type Headers = GuardedRequest['headers'];

/** The first cookie with this name. */
export function cookieOf({ cookie = '' }: Headers, name: string): string | undefined {
  for (const pair of cookie.split(';')) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return undefined;
}

export interface CookieOptions {
  readonly maxAgeSeconds: number;
  /** Only over TLS. */
  readonly secure: boolean;
}

/** Formats a cookie that scripts can't read and cross-site commands don't send. */
export const setCookie = (name: string, value: string, { maxAgeSeconds, secure }: CookieOptions): string =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure ? '; Secure' : ''}`;

/**
 * Whether a request was sent by a page of the service itself.
 *
 * @param appUrl Public address of the service, if it differs from the listening address.
 */
export function isSameOrigin(headers: Headers, appUrl: string | undefined): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origin === undefined) return site === 'same-origin';
  if (appUrl !== undefined && origin === new URL(appUrl).origin) return true;
  return host !== undefined && /^https?:\/\/(.*)$/i.exec(origin)?.[1] === host;
}
