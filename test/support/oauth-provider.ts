/** A real OAuth provider, and the redirects of a browser. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ask } from './http-spec.js';

export interface Provider {
  /** The setting `oauth.custom`. */
  readonly settings: object;
  stop(): void;
}

/** Starts a provider that knows one client. Profiles are given by the browser: `?as=<JSON of a profile>`. */
export async function startProvider(id: string): Promise<Provider> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    settings: {
      id,
      name: `Provider ${id}`,
      authorizationUrl: `${at}/authorize`,
      tokenUrl: `${at}/token`,
      userInfoUrl: `${at}/userinfo`,
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      scopes: 'openid email',
      authorizationParams: { prompt: 'login' },
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Headers = { readonly [name: string]: string };

/** Target of a redirect. */
export const locationOf = ({ headers }: { readonly headers: globalThis.Headers }): URL =>
  new URL(headers.get('location') ?? 'none:');

/** Starts a sign-in; resolves to the URL of the provider. */
export const away = async (base: string, id: string, headers: Headers = {}): Promise<URL> =>
  locationOf(await ask(base, 'GET', `/auth/oauth/${id}`, { headers }));

/** Signs in at the provider with a profile; resolves to the parameters of its redirect. */
export async function granted(authorization: URL, profile: object): Promise<URLSearchParams> {
  const signInUrl = new URL(authorization);
  signInUrl.searchParams.set('as', JSON.stringify(profile));
  const answer = await fetch(signInUrl, { redirect: 'manual' });
  return locationOf(answer).searchParams;
}

/** Returns to a node with the parameters of the provider; resolves to the parameters of the application's redirect. */
export const back = async (
  base: string,
  id: string,
  query: URLSearchParams,
  headers: Headers = {},
): Promise<URLSearchParams> =>
  locationOf(await ask(base, 'GET', `/auth/oauth/${id}/callback?${query}`, { headers })).searchParams;

/** An issued code, with its profile and PKCE challenge. */
interface Grant {
  readonly profile: object;
  readonly challenge: string;
  readonly redirectUri: string;
}

const CLIENT = { id: 'annals', secret: 'the secret of annals' };
const codes = new Map<string, Grant>();
const tokens = new Map<string, object>();

const json = (response: ServerResponse, status: number, body: object) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

async function bodyOf(request: IncomingMessage): Promise<URLSearchParams> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return new URLSearchParams(Buffer.concat(pieces).toString());
}

function authorize(query: URLSearchParams, response: ServerResponse) {
  const redirectUri = query.get('redirect_uri') ?? '';
  const wrong =
    query.get('response_type') !== 'code' ||
    query.get('client_id') !== CLIENT.id ||
    query.get('code_challenge_method') !== 'S256' ||
    !query.get('state');
  if (wrong) return json(response, 400, { error: 'invalid_request' });
  const code = randomBytes(16).toString('hex');
  const profile = JSON.parse(query.get('as') ?? '{}');
  codes.set(code, { profile, challenge: query.get('code_challenge') ?? '', redirectUri });
  const target = new URL(redirectUri);
  target.searchParams.set('state', query.get('state') ?? '');
  target.searchParams.set('code', code);
  response.writeHead(302, { location: target.href }).end();
}

function exchange(form: URLSearchParams, response: ServerResponse) {
  const code = form.get('code') ?? '';
  const grant = codes.get(code);
  codes.delete(code);
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url');
  const isRight =
    grant?.challenge === challenge &&
    grant.redirectUri === form.get('redirect_uri') &&
    form.get('client_id') === CLIENT.id &&
    form.get('client_secret') === CLIENT.secret &&
    form.get('grant_type') === 'authorization_code';
  if (!grant || !isRight) return json(response, 400, { error: 'invalid_grant' });
  const token = randomBytes(16).toString('hex');
  tokens.set(token, grant.profile);
  json(response, 200, { access_token: token, token_type: 'Bearer' });
}

async function answer(request: IncomingMessage, response: ServerResponse) {
  const url = new URL(request.url ?? '', 'http://provider');
  if (url.pathname === '/authorize') return authorize(url.searchParams, response);
  if (url.pathname === '/token') return exchange(await bodyOf(request), response);
  const profile = tokens.get((request.headers.authorization ?? '').replace('Bearer ', ''));
  if (url.pathname === '/userinfo') return json(response, profile ? 200 : 401, profile ?? {});
  json(response, 404, {});
}
