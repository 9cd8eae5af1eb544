/** What a browser sends for pages of other sites without asking first, with the password that its user once gave. */
import type { Addressed, Guard } from '../server/policy.js';
import { problem } from '../server/problem.js';

const UNASKED = problem(403, 'Pages of other sites may only link here');
const UNANNOUNCED = problem(403, 'Pages of other origins must send what they send as application/json');

/** Types that a page may send anywhere; for all others a browser asks first, and is told that no password goes along. */
const SIMPLE = /^(?:text\/plain|application\/x-www-form-urlencoded|multipart\/form-data)\b|^$/i;

export interface Trusted {
  /** Under which people reach the service, if that is not what it listens on. */
  readonly appUrl?: string | undefined;
  /** Whose pages are trusted to send anything. `*` is nobody: it lets read, and stands for everybody. */
  readonly origins?: readonly string[] | undefined;
}

/** Refuses what a page embeds (an image, a frame, a script): how long it takes tells what is found. A link is none. */
export const unasked: Guard = ({ headers }) => {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers;
  // Where there is an origin it is what counts.
  if (origin !== undefined || site !== 'cross-site') return undefined;
  return mode === 'navigate' && destination === 'document' ? undefined : UNASKED;
};

/**
 * For services that take a name and password, which browsers add to whatever any page sends: refuses what is embedded,
 * and commands of other origins that the browser did not ask about first.
 */
export function unforged({ appUrl, origins = [] }: Trusted): Guard {
  const own = appUrl === undefined ? undefined : new URL(appUrl).origin;
  const isOwn = ({ origin, host, 'sec-fetch-site': site }: Addressed['headers']) =>
    site === 'same-origin' || origin === own || /^https?:\/\/(.*)$/i.exec(origin ?? '')?.[1] === host;
  return (request) => {
    const { method, headers } = request;
    const { authorization = '', origin, 'content-type': type = '' } = headers;
    if (!/^basic /i.test(authorization)) return undefined;
    if (origin === undefined) return unasked(request);
    const isAsked = method !== 'POST' || !SIMPLE.test(type);
    return isAsked || isOwn(headers) || origins.includes(origin) ? undefined : UNANNOUNCED;
  };
}
