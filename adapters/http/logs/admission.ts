/** Authenticates callers of the log service: API token or basic credentials for all, producer tokens for ingest. */
import { equalsSecret } from '../hardening/constant-time.js';
import { type Problem, problem } from '../server/policy.js';
import type { Request, Route } from '../server/route.js';
import { LOG_SECURITY } from './policy.js';

export interface LogCaller {
  readonly actor: string;
  readonly producerId: string;
}

export interface Credentials {
  readonly apiToken?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly producers: readonly { readonly id: string; readonly token: string }[];
}

const UNAUTHORIZED = problem(401, 'Sign in with a bearer token or with a username and password', {
  headers: { 'WWW-Authenticate': 'Bearer realm="logs", Basic realm="logs", charset="UTF-8"' },
});
const INGEST_ONLY = problem(403, 'This token can only send records');
/** Any use of the scheme, even with a malformed token. */
const BEARER = /^bearer\b/i;
const DEFAULT_PRODUCER = 'default';

export const withProducerRejection = (route: Route): Route => ({
  ...route,
  answers: {
    ...route.answers,
    403: { description: 'Producer tokens can only send records; or the Host or Origin is not allowed' },
  },
});

/** Without token and password, anyone has full access, except senders of a wrong bearer token, who rely on it. */
export function createLogAdmission({ apiToken, username, password, producers }: Credentials) {
  const bearer = apiToken !== undefined;
  const basic = username !== undefined && password !== undefined;
  const open = !bearer && !basic;
  const tokens = producers.map(({ id, token }) => ({ id, matches: equalsSecret(token) }));
  const isApiToken = equalsSecret(apiToken);
  const [isUsername, isPassword] = [equalsSecret(username), equalsSecret(password)];

  const producerOf = (request: Request) => {
    const { bearer: token } = request;
    return token === undefined ? undefined : tokens.find(({ matches }) => matches(token))?.id;
  };

  const isWrongBearer = (request: Request) =>
    tokens.length > 0 && BEARER.test(request.headers.authorization ?? '') && producerOf(request) === undefined;

  function authenticate(request: Request): LogCaller | undefined {
    const { bearer: token, basic: input } = request;
    if (bearer && token !== undefined && isApiToken(token)) return caller('api');
    if (basic && input) {
      // Compares both in any case, so that timing reveals nothing.
      const [name, secret] = [isUsername(input.username), isPassword(input.password)];
      if (name && secret) return { actor: 'basic', producerId: input.username };
    }
    return open && !isWrongBearer(request) ? caller('anonymous') : undefined;
  }

  return {
    ingest(request: Request): LogCaller | Problem {
      const producerId = producerOf(request);
      if (producerId !== undefined) return { actor: producerId, producerId };
      return authenticate(request) ?? UNAUTHORIZED;
    },
    query(request: Request): LogCaller | Problem {
      const producerId = open ? undefined : producerOf(request);
      return producerId === undefined ? (authenticate(request) ?? UNAUTHORIZED) : INGEST_ONLY;
    },
    security: open ? [] : [...LOG_SECURITY],
    mode: { required: !open, bearer, basic },
    signIn: signIn(bearer, basic, producers.length > 0),
  };
}

function signIn(bearer: boolean, basic: boolean, producers: boolean): string {
  const methods = [
    ...(bearer ? ['logs.apiToken as a bearer token'] : []),
    ...(basic ? ['the username and password of logs.basic'] : []),
    ...(producers ? ['the tokens of logs.producers, to send records'] : []),
  ];
  if (bearer || basic) return `sign in with ${methods.join(', or ')}`;
  if (producers) return READING_OPEN;
  return 'anyone who can reach it has access; set logs.apiToken or logs.basic.* to require credentials';
}

const READING_OPEN =
  'logs.producers is set but logs.apiToken is not: anyone who can reach it can read records; ' +
  'set logs.apiToken to prevent that';

const caller = (actor: string): LogCaller => ({ actor, producerId: DEFAULT_PRODUCER });
