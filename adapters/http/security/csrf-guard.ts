/** Rejects requests that a browser sends for pages of other sites, with the user's stored password. */
import type { Guard, GuardedRequest } from '../server/policy.js';
import { problem } from '../server/problem.js';

const EMBEDDED = problem(403, 'Pages of other sites may only link here');
const NO_PREFLIGHT = problem(403, 'Pages of other origins must send application/json');

/** Content types sent without a preflight. For all others CORS rejects credentials. */
const SIMPLE = /^(?:text\/plain|application\/x-www-form-urlencoded|multipart\/form-data)\b|^$/i;

export interface CsrfGuardOptions {
  /** Public address of the service, if it differs from the listening address. */
  readonly appUrl?: string | undefined;
  /** Origins trusted to send anything. `*` has no effect here: it only permits reading. */
  readonly origins?: readonly string[] | undefined;
}

/** Rejects resources that a page of another site embeds (images, frames, scripts), as timing reveals data. Links are allowed. */
export const rejectEmbedding: Guard = ({ headers }) => {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers;
  // Requests with an Origin are checked by it.
  if (origin !== undefined || site !== 'cross-site') return undefined;
  return mode === 'navigate' && destination === 'document' ? undefined : EMBEDDED;
};

/**
 * For services with Basic authentication, as browsers add these credentials to requests of any page: rejects embedded
 * resources, and commands of other origins that were sent without a preflight.
 */
export function createCsrfGuard({ appUrl, origins = [] }: CsrfGuardOptions): Guard {
  const appOrigin = appUrl === undefined ? undefined : new URL(appUrl).origin;
  const isSameOrigin = ({ origin, host, 'sec-fetch-site': site }: GuardedRequest['headers']) =>
    site === 'same-origin' || origin === appOrigin || /^https?:\/\/(.*)$/i.exec(origin ?? '')?.[1] === host;
  return (request) => {
    const { method, headers } = request;
    const { authorization = '', origin, 'content-type': type = '' } = headers;
    if (!/^basic /i.test(authorization)) return undefined;
    if (origin === undefined) return rejectEmbedding(request);
    const hasPreflight = method !== 'POST' || !SIMPLE.test(type);
    return hasPreflight || isSameOrigin(headers) || origins.includes(origin) ? undefined : NO_PREFLIGHT;
  };
}
