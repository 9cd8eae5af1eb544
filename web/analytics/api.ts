/** What the service is asked, and how it refuses: by the cookie of a session, or by the admin token of this tab. */
import type { Attempt, CleanupResult, Privacy, Report, Site, User } from './contract.js';
import type { Period } from './period.js';

/** Of the tab only, and gone with it. */
const TOKEN = 'analytics.admin-token';

/** With what to tell the reader. */
export class ApiError extends Error {
  /** Undefined where nothing was answered. */
  readonly status: number | undefined;
  constructor(status: number | undefined, message: string) {
    super(message);
    this.status = status;
  }
}

/** A site as it is written; what is not given stays. */
export interface SiteInput {
  readonly id?: string;
  readonly name?: string;
  readonly domains?: string;
  readonly allowedEventProperties?: readonly string[];
  readonly ingestToken?: string;
}

export const errorMessage = (error: unknown): string =>
  error instanceof ApiError ? error.message : 'Something went wrong on this page. Load it again.';

export type Api = ReturnType<typeof createApi>;

/** `signedOut`: the service does not know us any more. */
export function createApi(signedOut: () => void) {
  const bearer = (): { [name: string]: string } => {
    const token = sessionStorage.getItem(TOKEN);
    return token === null ? {} : { Authorization: `Bearer ${token}` };
  };

  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...bearer(), ...(init.headers as object) };
    const response = await fetch(path, { ...init, headers }).catch((error: unknown) => {
      if (init.signal?.aborted) throw error;
      throw new ApiError(undefined, 'The service can not be reached. Is it running, and are you online?');
    });
    if (response.ok) return response;
    throw await refusal(response);
  }

  async function ask<Answer>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Answer> {
    const response = await send(path, {
      method,
      ...(signal && { signal }),
      ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    });
    return (response.status === 204 ? undefined : await response.json()) as Answer;
  }

  /** What only who is signed in may ask. */
  const inside = async <Answer>(asked: Promise<Answer>): Promise<Answer> =>
    asked.catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 401) signedOut();
      throw error;
    });

  const me = () => ask<{ user: User }>('GET', 'api/auth/me');

  return {
    /** Who is signed in; rejects with 401 for nobody. */
    me,
    /** A session of which half is over begins anew by it. */
    renew: () => inside(me()),
    askForLink: (email: string) => ask<{ message: string }>('POST', 'api/auth/magic-link', { email }),
    verify: (token: string, email: string | undefined) =>
      ask<{ user: User }>('POST', 'api/auth/verify', { token, ...(email && { email }) }),
    useToken: (token: string) => sessionStorage.setItem(TOKEN, token),
    async signOut() {
      sessionStorage.removeItem(TOKEN);
      await ask<void>('POST', 'api/auth/logout', {});
    },
    forgetToken: () => sessionStorage.removeItem(TOKEN),

    sites: () => inside(ask<{ sites: readonly Site[]; privacy: Privacy }>('GET', 'api/sites')),
    createSite: (wish: SiteInput) => inside(ask<{ site: Site }>('POST', 'api/sites', wish)),
    changeSite: (id: string, wish: SiteInput) =>
      inside(ask<{ site: Site }>('PUT', `api/sites/${encodeURIComponent(id)}`, wish)),
    deleteSite: (id: string) => inside(ask<{ rowsDeleted: number }>('DELETE', `api/sites/${encodeURIComponent(id)}`)),
    attempts: (site: string) =>
      inside(ask<{ attempts: readonly Attempt[] }>('GET', `api/collect-attempts?${query({ site })}`)),
    report: (site: string, period: Period, signal: AbortSignal) =>
      inside(ask<Report>('GET', `api/report?${query({ site, ...period })}`, undefined, signal)),
    cleanup: () => inside(ask<CleanupResult>('POST', 'api/cleanup', {})),
    /** The stream of the live view, after the last that was heard of it. */
    live: (site: string, after: string | undefined, signal: AbortSignal) =>
      inside(
        send(`api/live?${query({ site })}`, {
          signal,
          headers: after === undefined ? {} : { 'Last-Event-ID': after },
        }),
      ),
  };
}

export const query = (values: { readonly [name: string]: string | number }): string =>
  new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)])).toString();

async function refusal(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const seconds = headers.get('Retry-After');
  const again = seconds ? `Try again in ${seconds} s.` : 'Try again in a moment.';
  if (status === 503) return new ApiError(status, `The service can not reach what it stores. ${again}`);
  if (status === 429) return new ApiError(status, `That was too often. ${again}`);
  const { error } = await response.json().catch(() => ({}));
  return new ApiError(status, typeof error === 'string' ? `${error}.` : `The service answered ${status}.`);
}
