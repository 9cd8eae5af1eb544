/** Requests to the service, authenticated by session cookie or by admin token. */
import { ApiError, createHttp, type RequestOptions } from '../shared/api/http.js';
import type { Attempt, CleanupResult, Filters, Privacy, Report, Site, User, WeeklyMail } from './contract.js';
import type { Period } from './period.js';
import { adminToken, endSession } from './session.js';
import { shareToken } from './share/share-token.js';
import { signInTexts, texts } from './texts.js';

/** Input for a site; absent fields stay unchanged. */
export interface SiteInput {
  readonly id?: string;
  readonly name?: string;
  readonly domains?: string;
  readonly allowedEventProperties?: readonly string[];
  readonly goals?: readonly string[];
  readonly ingestToken?: string;
}

function bearer(): { readonly [name: string]: string } {
  const token = shareToken ?? adminToken.get();
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}

const http = createHttp({ headers: bearer });

/** Says what to do about temporary failures. */
function explained(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { message, status, retryAfterSeconds } = error;
  const retry = texts.retryIn(retryAfterSeconds);
  if (status === 503) return new ApiError(texts.unreachableStore(retry), status, retryAfterSeconds);
  if (status === 429) return new ApiError(texts.tooManyRequests(retry), status, retryAfterSeconds);
  return new ApiError(/[.!?]$/.test(message) ? message : `${message}.`, status, retryAfterSeconds);
}

const request = <Answer>(method: string, path: string, options?: RequestOptions): Promise<Answer> =>
  http.json<Answer>(method, path, options).catch((error: unknown) => {
    throw explained(error);
  });

export const isUnauthorized = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

/** Wraps requests that require sign-in. */
const authenticated = <Answer>(answer: Promise<Answer>): Promise<Answer> =>
  answer.catch((error: unknown) => {
    if (isUnauthorized(error)) endSession(signInTexts.ended);
    throw error;
  });

interface ReportOptions {
  /** Most rows of each list. */
  readonly limit?: number;
  readonly filters?: Filters;
  readonly signal?: AbortSignal;
}

/** Parameter of the service, and of the page's address; undefined without filters. */
export const filterQuery = (filters: Filters): string | undefined =>
  Object.keys(filters).length > 0 ? JSON.stringify(filters) : undefined;

const sitePath = (id: string) => `api/sites/${encodeURIComponent(id)}`;
const me = () => request<{ readonly user: User }>('GET', 'api/auth/me');

export const api = {
  /** Returns the signed-in user; rejects with 401 if there is none. */
  me,
  /** Extends the session after half of its lifetime. */
  renew: () => authenticated(me()),
  requestLink: (email: string) =>
    request<{ readonly message: string }>('POST', 'api/auth/magic-link', { body: { email } }),
  verify: (token: string, email: string | undefined) =>
    request<{ readonly user: User }>('POST', 'api/auth/verify', { body: { token, ...(email && { email }) } }),
  signOut: () => request<void>('POST', 'api/auth/logout', { body: {} }),

  sites: () =>
    authenticated(request<{ readonly sites: readonly Site[]; readonly privacy: Privacy }>('GET', 'api/sites')),
  createSite: (body: SiteInput) => authenticated(request<{ readonly site: Site }>('POST', 'api/sites', { body })),
  changeSite: (id: string, body: SiteInput) =>
    authenticated(request<{ readonly site: Site }>('PUT', sitePath(id), { body })),
  share: (id: string) => authenticated(request<{ readonly site: Site }>('POST', `${sitePath(id)}/share`)),
  unshare: (id: string) => authenticated(request<{ readonly site: Site }>('DELETE', `${sitePath(id)}/share`)),
  weeklyMail: (id: string) => authenticated(request<WeeklyMail>('GET', `${sitePath(id)}/weekly-mail`)),
  subscribe: (id: string, timeZone: string) =>
    authenticated(request<WeeklyMail>('PUT', `${sitePath(id)}/weekly-mail`, { body: { timeZone } })),
  unsubscribe: (id: string) => authenticated(request<WeeklyMail>('DELETE', `${sitePath(id)}/weekly-mail`)),
  unsubscribeByLink: (token: string) => request<WeeklyMail>('POST', 'unsubscribe', { query: { token } }),
  deleteSite: (id: string) => authenticated(request<{ readonly rowsDeleted: number }>('DELETE', sitePath(id))),
  attempts: (site: string) =>
    authenticated(
      request<{ readonly attempts: readonly Attempt[] }>('GET', 'api/collect-attempts', { query: { site } }),
    ),
  report: (site: string, period: Period, { signal, limit, filters = {} }: ReportOptions = {}) =>
    authenticated(
      request<Report>('GET', shareToken === undefined ? 'api/report' : 'api/shared/report', {
        query: { ...(shareToken === undefined && { site }), ...period, limit, filters: filterQuery(filters) },
        ...(signal && { signal }),
      }),
    ),
  cleanup: () => authenticated(request<CleanupResult>('POST', 'api/cleanup', { body: {} })),
  /** Opens the live stream, resuming after an event id. */
  live: (site: string, after: string | undefined, signal: AbortSignal) =>
    authenticated(
      http.send('GET', 'api/live', {
        query: { site },
        signal,
        headers: after === undefined ? {} : { 'Last-Event-ID': after },
      }),
    ),
};
