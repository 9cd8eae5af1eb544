/** Cookies of requests and answers (RFC 6265), and where a command that comes with one is from. */
import type { Addressed } from './policy.js';

type Headers = Addressed['headers'];

/** The first of that name. */
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

/** No script reads it, and no page of another site sends commands with it. */
export const setCookie = (name: string, value: string, { maxAgeSeconds, secure }: CookieOptions): string =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure ? '; Secure' : ''}`;

/** Whether a page of the service itself says it; `appUrl`: under which people reach it, if that is somewhere else. */
export function isSameOrigin(headers: Headers, appUrl: string | undefined): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origin === undefined) return site === 'same-origin';
  if (appUrl !== undefined && origin === new URL(appUrl).origin) return true;
  return host !== undefined && /^https?:\/\/(.*)$/i.exec(origin)?.[1] === host;
}
