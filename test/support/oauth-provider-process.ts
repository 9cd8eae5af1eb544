/** An OAuth 2.0 provider as a process of its own: takes everybody for whom the query says, and insists on PKCE. */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** As a browser that is signed in there would have it: `?as=<JSON of a profile>`. */
interface Granted {
  readonly profile: object;
  readonly challenge: string;
  readonly redirectUri: string;
}

const CLIENT = { id: 'annals', secret: 'the secret of annals' };
const codes = new Map<string, Granted>();
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
  const back = new URL(redirectUri);
  back.searchParams.set('state', query.get('state') ?? '');
  back.searchParams.set('code', code);
  response.writeHead(302, { location: back.href }).end();
}

function exchange(form: URLSearchParams, response: ServerResponse) {
  const code = form.get('code') ?? '';
  const granted = codes.get(code);
  codes.delete(code);
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url');
  const isRight =
    granted?.challenge === challenge &&
    granted.redirectUri === form.get('redirect_uri') &&
    form.get('client_id') === CLIENT.id &&
    form.get('client_secret') === CLIENT.secret &&
    form.get('grant_type') === 'authorization_code';
  if (!granted || !isRight) return json(response, 400, { error: 'invalid_grant' });
  const token = randomBytes(16).toString('hex');
  tokens.set(token, granted.profile);
  json(response, 200, { access_token: token, token_type: 'Bearer' });
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? '', 'http://provider');
  if (url.pathname === '/authorize') return authorize(url.searchParams, response);
  if (url.pathname === '/token') return exchange(await bodyOf(request), response);
  const profile = tokens.get((request.headers.authorization ?? '').replace('Bearer ', ''));
  if (url.pathname === '/userinfo') return json(response, profile ? 200 : 401, profile ?? {});
  json(response, 404, {});
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : 0, ...CLIENT });
});
