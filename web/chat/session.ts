/**
 * The session of this browser: tokens shared by all tabs through `localStorage`. One tab at a time refreshes them, as a
 * refresh token that is used again ends the session.
 */
import { effect, signal } from '@preact/signals';
import { ApiError, createHttp } from '../shared/api/http.js';
import { randomKey } from '../shared/random-key.js';
import { stored } from '../shared/storage.js';

export interface User {
  readonly id: string;
  readonly userName: string;
  readonly isAdmin: boolean;
}

/** What every way of signing in returns. */
export interface SignedIn {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Lifetime of the access token in seconds. */
  readonly exp: number;
}

export interface Session {
  readonly user: User;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Idempotency key of the refresh: a repetition after a lost response gets the same tokens, and ends nothing. */
  readonly refreshKey: string;
  /** Unix ms at which to refresh before the service asks for it. */
  readonly renewAt: number;
}

/** Why there is no session any more: the sign-in form says so. */
export type EndReason = 'expired' | 'signed-out' | 'left';

const KEY = 'chat.session';
const LOCK = 'chat.session.refresh';
/** Part of a token's life after which it is refreshed. */
const RENEW_AFTER = 0.8;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const LOGOUT_MS = 5000;

/** Keys of values that belong to a user begin with this; signing out removes them. */
export const userKey = (userId: string, name: string): string => `chat.user.${userId}.${name}`;

const storage = stored<Session | null>(KEY, null);
const plain = createHttp();

/** Returns null for anything but a session. */
function readStored(): Session | null {
  const value = storage.get();
  return value?.user?.id && value.accessToken && value.refreshToken ? value : null;
}

export const session = signal<Session | null>(readStored());
export const endReason = signal<EndReason | undefined>(undefined);

/** The user that an access token was issued to. */
export function userOf(accessToken: string): User {
  const payload = (accessToken.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/');
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
  const { sub, username, role } = JSON.parse(new TextDecoder().decode(bytes));
  return { id: sub, userName: username, isAdmin: role === 'admin' };
}

const sessionOf = ({ accessToken, refreshToken, exp }: SignedIn): Session => ({
  user: userOf(accessToken),
  accessToken,
  refreshToken,
  refreshKey: randomKey(),
  renewAt: Date.now() + exp * 1000 * RENEW_AFTER,
});

function save(next: Session) {
  // Old tokens must not be used again: that ends the session.
  if (!storage.set(next)) storage.remove();
  session.value = next;
}

/** Starts a session with the tokens of a sign-in. */
export function beginSession(tokens: SignedIn): void {
  endReason.value = undefined;
  save(sessionOf(tokens));
}

/** Ends the session in all tabs of this browser. */
export function endSession(reason: EndReason): void {
  const userId = session.value?.user.id;
  storage.remove();
  if (userId !== undefined && reason !== 'expired') forgetUser(userId, () => [localStorage, sessionStorage]);
  endReason.value = reason;
  session.value = null;
}

function forgetUser(userId: string, storages: () => readonly Storage[]) {
  const prefix = userKey(userId, '');
  try {
    for (const each of storages())
      for (const key of Object.keys(each)) if (key.startsWith(prefix)) each.removeItem(key);
  } catch {
    // The browser refuses storage, so nothing is stored.
  }
}

/** Takes over a new name or role of the user. */
export function updateUser({ userName, isAdmin }: Partial<Omit<User, 'id'>>): void {
  const own = session.value;
  // The stored tokens, as another tab may just have refreshed them.
  const current = readStored() ?? own;
  if (!own || current?.user.id !== own.user.id) return;
  const { user } = current;
  const next = { ...user, userName: userName ?? user.userName, isAdmin: isAdmin ?? user.isAdmin };
  if (next.userName !== user.userName || next.isAdmin !== user.isAdmin) save({ ...current, user: next });
}

/** Headers of requests of the signed-in user. */
export const bearer = (current = session.value): { readonly [name: string]: string } =>
  current ? { Authorization: `Bearer ${current.accessToken}` } : {};

let refreshing: Promise<boolean> | undefined;

/**
 * Gets new tokens, unless another tab has by now. Resolves with false if the session has ended or is now another
 * user's; rejects if the service is not reachable.
 */
export function refreshSession(refused = session.value?.accessToken): Promise<boolean> {
  refreshing ??= exclusively(() => renew(refused)).finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

/** Locks exist on secure origins only. Elsewhere the service's grace of 30 s for a refresh token has to do. */
const exclusively = (work: () => Promise<boolean>): Promise<boolean> =>
  navigator.locks ? navigator.locks.request(LOCK, work) : work();

async function renew(refused: string | undefined): Promise<boolean> {
  const own = session.value;
  const current = readStored() ?? own;
  if (!own || !current) return false;
  if (current.accessToken !== refused) {
    session.value = current;
    return current.user.id === own.user.id;
  }
  const { refreshToken, refreshKey } = current;
  const options = { body: { refreshToken }, idempotencyKey: refreshKey };
  try {
    save(sessionOf(await plain.json<SignedIn>('POST', 'auth/refresh', options)));
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    endSession('expired');
    return false;
  }
}

/** Ends the session on the service, and here with any answer. Rejects if the service could not be reached. */
export async function signOut(): Promise<void> {
  const body = { refreshToken: session.value?.refreshToken };
  const logout = () =>
    plain.send('POST', 'auth/logout', { headers: bearer(), body, signal: AbortSignal.timeout(LOGOUT_MS) });
  try {
    await logout().catch(async (error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      if (await refreshSession()) await plain.send('POST', 'auth/logout', { headers: bearer(), body: {} });
    });
  } finally {
    endSession('signed-out');
  }
}

/** Follows what other tabs do. */
function followTabs() {
  const next = readStored();
  const previous = session.value?.user.id;
  if (previous !== undefined && !next) endReason.value = 'signed-out';
  // Each tab has its own session storage, which the tab that signed out could not clear.
  if (previous !== undefined && next?.user.id !== previous) forgetUser(previous, () => [sessionStorage]);
  session.value = next;
}

addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) followTabs();
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) followTabs();
});

let timer: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  clearTimeout(timer);
  const current = session.value;
  if (!current) return;
  const pause = Math.min(Math.max(current.renewAt - Date.now(), 0), LONGEST_TIMER_MS);
  // Offline, the first refused request refreshes instead.
  timer = setTimeout(() => refreshSession(current.accessToken).catch(() => {}), pause);
});
