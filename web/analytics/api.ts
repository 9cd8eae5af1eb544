/** HTTP client of the service. Authenticates by session cookie, or by the admin token stored in this tab. */
import type { Attempt, CleanupResult, Privacy, Report, Site, User } from './contract.js';
import type { Period } from './period.js';

/** Key in `sessionStorage`, which lasts as long as the tab. */
const TOKEN_KEY = 'analytics.admin-token';

/** A failed request, with a message for the user. */
export class ApiError extends Error {
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  constructor(status: number | undefined, message: string) {
    super(message);
    this.status = status;
  }
}

/** Input for a site; absent fields stay unchanged. */
export interface SiteInput {
  readonly id?: string;
  readonly name?: string;
  readonly domains?: string;
  readonly allowedEventProperties?: readonly string[];
  readonly ingestToken?: string;
}

export const errorMessage = (error: unknown): string =>
  error instanceof ApiError ? error.message : 'Something went wrong on this page. Reload it.';

export type Api = ReturnType<typeof createApi>;

/** `onSignedOut` runs when the service rejects the session. */
export function createApi(onSignedOut: () => void) {
  const bearer = (): { [name: string]: string } => {
    const token = sessionStorage.getItem(TOKEN_KEY);
    return token === null ? {} : { Authorization: `Bearer ${token}` };
  };

  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...bearer(), ...(init.headers as object) };
    const response = await fetch(path, { ...init, headers }).catch((error: unknown) => {
      if (init.signal?.aborted) throw error;
      throw new ApiError(undefined, 'The service is not reachable. Check that it is running and that you are online.');
    });
    if (response.ok) return response;
    throw await errorFrom(response);
  }

  async function request<Answer>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Answer> {
    const response = await send(path, {
      method,
      ...(signal && { signal }),
      ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    });
    return (response.status === 204 ? undefined : await response.json()) as Answer;
  }

  /** Wraps requests that require sign-in. */
  const authenticated = async <Answer>(response: Promise<Answer>): Promise<Answer> =>
    response.catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 401) onSignedOut();
      throw error;
    });

  const me = () => request<{ user: User }>('GET', 'api/auth/me');

  return {
    /** Returns the signed-in user; rejects with 401 if there is none. */
    me,
    /** Extends the session after half of its lifetime. */
    renew: () => authenticated(me()),
    requestLink: (email: string) => request<{ message: string }>('POST', 'api/auth/magic-link', { email }),
    verify: (token: string, email: string | undefined) =>
      request<{ user: User }>('POST', 'api/auth/verify', { token, ...(email && { email }) }),
    useToken: (token: string) => sessionStorage.setItem(TOKEN_KEY, token),
    async signOut() {
      sessionStorage.removeItem(TOKEN_KEY);
      await request<void>('POST', 'api/auth/logout', {});
    },
    forgetToken: () => sessionStorage.removeItem(TOKEN_KEY),

    sites: () => authenticated(request<{ sites: readonly Site[]; privacy: Privacy }>('GET', 'api/sites')),
    createSite: (input: SiteInput) => authenticated(request<{ site: Site }>('POST', 'api/sites', input)),
    changeSite: (id: string, input: SiteInput) =>
      authenticated(request<{ site: Site }>('PUT', `api/sites/${encodeURIComponent(id)}`, input)),
    deleteSite: (id: string) =>
      authenticated(request<{ rowsDeleted: number }>('DELETE', `api/sites/${encodeURIComponent(id)}`)),
    attempts: (site: string) =>
      authenticated(request<{ attempts: readonly Attempt[] }>('GET', `api/collect-attempts?${query({ site })}`)),
    report: (site: string, period: Period, signal: AbortSignal) =>
      authenticated(request<Report>('GET', `api/report?${query({ site, ...period })}`, undefined, signal)),
    cleanup: () => authenticated(request<CleanupResult>('POST', 'api/cleanup', {})),
    /** Opens the live stream, resuming after an event id. */
    live: (site: string, after: string | undefined, signal: AbortSignal) =>
      authenticated(
        send(`api/live?${query({ site })}`, {
          signal,
          headers: after === undefined ? {} : { 'Last-Event-ID': after },
        }),
      ),
  };
}

export const query = (values: { readonly [name: string]: string | number }): string =>
  new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)])).toString();

async function errorFrom(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const seconds = headers.get('Retry-After');
  const retryHint = seconds ? `Try again in ${seconds} s.` : 'Try again in a moment.';
  if (status === 503) return new ApiError(status, `The service cannot reach its storage. ${retryHint}`);
  if (status === 429) return new ApiError(status, `Too many requests. ${retryHint}`);
  const { error } = await response.json().catch(() => ({}));
  return new ApiError(status, typeof error === 'string' ? `${error}.` : `The service answered ${status}.`);
}
