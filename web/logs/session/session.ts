/** Credentials for the service, kept until the tab is closed; views ask `state` whether to show the sign-in. */
import { signal } from '@preact/signals';
import { ApiError, createHttp, type Http } from '../../shared/api/http.js';
import { stored } from '../../shared/storage.js';
import type { Health } from '../contract.js';
import { texts } from '../texts.js';

type Access =
  /** It is not known yet what the service wants, or it cannot be reached. */
  | { readonly kind: 'connecting'; readonly error?: unknown }
  | { readonly kind: 'open' }
  | { readonly kind: 'signed out'; readonly bearer: boolean; readonly basic: boolean; readonly ended: boolean }
  | { readonly kind: 'signed in' };

const saved = stored<string>('annals-logs-authorization', '', () => sessionStorage);

/** Credentials that the browser did not store. */
let unsaved = '';

function save(value: string) {
  saved.set(value);
  unsaved = saved.get() === value ? '' : value;
}

function forget() {
  saved.remove();
  unsaved = '';
}

const current = () => saved.get() || unsaved;

export const access = signal<Access>({ kind: 'connecting' });
let methods = { bearer: false, basic: false };

export const authorization = (): { readonly [name: string]: string } => {
  const value = current();
  return value === '' ? {} : { Authorization: value };
};

/** The browser must not ask for a password itself, which it does where it may send credentials of its own. */
export const CREDENTIALS = 'omit' as const;

/** Requests with the credentials. A 401 shows the sign-in; the request fails then. */
export const http: Http = createHttp({ headers: authorization, onUnauthorized: endSession, credentials: CREDENTIALS });

/** Asks the service how it wants its callers to sign in. */
export async function connect(): Promise<void> {
  access.value = { kind: 'connecting' };
  try {
    const { auth } = await healthOf();
    methods = { bearer: auth?.bearer ?? false, basic: auth?.basic ?? false };
    if (!auth?.required) access.value = { kind: 'open' };
    else if (current() !== '') access.value = { kind: 'signed in' };
    else access.value = { kind: 'signed out', ...methods, ended: false };
  } catch (error) {
    access.value = { kind: 'connecting', error };
  }
}

/** A service that is not healthy answers 503, and tells its methods, too. */
async function healthOf(): Promise<Health> {
  const response = await fetch('health', { cache: 'no-store' }).catch(() => {
    throw new ApiError(texts.states.unreachable);
  });
  const health = (await response.json().catch(() => ({}))) as Health;
  if (health.auth === undefined) throw new ApiError(texts.states.unreachable, response.status);
  return health;
}

/** Resolves with false when the service does not take the credentials. Rejects with other failures. */
export async function signIn(value: string): Promise<boolean> {
  const attempt = createHttp({ headers: () => ({ Authorization: value }), credentials: CREDENTIALS });
  try {
    await attempt.send('GET', 'api/logs', { query: { limit: 1 } });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    throw error;
  }
  save(value);
  access.value = { kind: 'signed in' };
  return true;
}

/** Resolves with true when other credentials are there by now than those that were refused. */
export async function endSession(sent: { readonly [name: string]: string }): Promise<boolean> {
  const { Authorization: known } = authorization();
  if (known !== undefined && known !== sent.Authorization) return true;
  forget();
  access.value = { kind: 'signed out', ...methods, ended: true };
  return false;
}

/** Records, fields and completions that the page holds in memory go with it. */
export function signOut(): void {
  forget();
  access.value = { kind: 'signed out', ...methods, ended: false };
  location.reload();
}

export const bearer = (token: string): string => `Bearer ${token}`;

/** Basic credentials in UTF-8. */
export function basic(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}
