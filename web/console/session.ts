/** Requests to the operations port, with its token where it asks for one; the token is kept until the tab is closed. */
import { signal } from '@preact/signals';
import { ApiError, createHttp, type Http } from '../shared/api/http.js';
import { stored } from '../shared/storage.js';
import { texts as commonTexts } from '../shared/texts.js';
import type { Health } from './contract.js';
import { texts } from './texts.js';

const saved = stored<string>('annals-operations-token', '', () => sessionStorage);
let token = saved.get();

/** Whether the port has refused to answer without another token. */
export const isSignedOut = signal(false);
/** Whether a token is in use. */
export const hasToken = signal(token !== '');

const bearing = (value: string): { readonly [name: string]: string } =>
  value === '' ? {} : { Authorization: `Bearer ${value}` };

export const http: Http = createHttp({
  headers: () => bearing(token),
  async onUnauthorized({ Authorization: sent }) {
    // The user may have signed in since the request was sent.
    if (sent !== bearing(token).Authorization) return true;
    isSignedOut.value = true;
    return false;
  },
});

export const get = <Answer>(path: string, signal?: AbortSignal): Promise<Answer> =>
  http.json<Answer>('GET', path, { ...(signal && { signal }) });

/** Rejects if the port does not accept the token. */
export async function signIn(value: string): Promise<void> {
  try {
    await createHttp({ headers: () => bearing(value) }).send('GET', 'health/live');
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) throw new ApiError(texts.signIn.wrong, 401);
    throw error;
  }
  token = value;
  saved.set(value);
  hasToken.value = true;
  isSignedOut.value = false;
}

export function signOut(): void {
  saved.remove();
  location.reload();
}

/** Returns the readiness of the node; one that is not ready answers with status 503. */
export async function getHealth(signal: AbortSignal): Promise<Health> {
  const response = await fetch('health/ready', { headers: bearing(token), signal }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new ApiError(commonTexts.unreachable);
  });
  const health: Partial<Health> = await response.json().catch(() => ({}));
  if (health.checks === undefined) throw new ApiError(commonTexts.responded(response.status), response.status);
  return health as Health;
}
