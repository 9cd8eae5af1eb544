/** A real OAuth provider for tests, in a process of its own, and the browser that goes there and back. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '@annals/engines/testing/children.js';
import { ask } from './chat-client.js';

export interface Provider {
  /** As it stands in `oauth.custom`. */
  readonly settings: object;
  stop(): void;
}

const PROCESS = fileURLToPath(new URL('./oauth-provider-process.js', import.meta.url));

/** `redirectUri`: by default where the application is. */
export async function startProvider(id: string): Promise<Provider> {
  const child = killOnExit(fork(PROCESS));
  const [{ port, id: clientId, secret: clientSecret }] = (await once(child, 'message')) as [
    { port: number; id: string; secret: string },
  ];
  const at = `http://127.0.0.1:${port}`;
  return {
    settings: {
      id,
      name: `Provider ${id}`,
      authorizationUrl: `${at}/authorize`,
      tokenUrl: `${at}/token`,
      userInfoUrl: `${at}/userinfo`,
      clientId,
      clientSecret,
      scopes: 'openid email',
      authorizationParams: { prompt: 'login' },
    },
    stop: () => void child.kill('SIGKILL'),
  };
}

type Headers = { readonly [name: string]: string };

/** Where a redirect leads. */
export const locationOf = ({ headers }: { readonly headers: globalThis.Headers }): URL =>
  new URL(headers.get('location') ?? 'none:');

/** Away to the provider. */
export const away = async (base: string, id: string, headers: Headers = {}): Promise<URL> =>
  locationOf(await ask(base, 'GET', `/auth/oauth/${id}`, { headers }));

/** What the provider sends the browser back with, who is signed in there as this. */
export async function granted(authorization: URL, profile: object): Promise<URLSearchParams> {
  const asked = new URL(authorization);
  asked.searchParams.set('as', JSON.stringify(profile));
  const answer = await fetch(asked, { redirect: 'manual' });
  return locationOf(answer).searchParams;
}

/** Back to a node, whatever host the provider was told: where the application leads then. */
export const back = async (
  base: string,
  id: string,
  query: URLSearchParams,
  headers: Headers = {},
): Promise<URLSearchParams> =>
  locationOf(await ask(base, 'GET', `/auth/oauth/${id}/callback?${query}`, { headers })).searchParams;
