/** Who may do what at the log service: its token or basic credentials for all, producers' tokens to ingest only. */
import { hash, timingSafeEqual } from 'node:crypto';
import { type Problem, problem } from '../server/problem.js';
import type { Request, Route } from '../server/route.js';
import { LOG_SECURITY } from './policy.js';

export interface LogCaller {
  /** Goes into the log. */
  readonly actor: string;
  /** Whose records these are, if they send some. */
  readonly producerId: string;
}

export interface Credentials {
  readonly apiToken?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly producers: readonly { readonly id: string; readonly token: string }[];
}

const UNAUTHORIZED = problem(401, 'Sign in with a bearer token or with a name and password', {
  headers: { 'WWW-Authenticate': 'Bearer realm="logs", Basic realm="logs", charset="UTF-8"' },
});
const INGEST_ONLY = problem(403, 'This token may only send records');
/** Any use of the scheme, also without a token that could be one. */
const BEARER = /^bearer\b/i;
const DEFAULT_PRODUCER = 'default';

export interface LogAdmission {
  ingest(request: Request): LogCaller | Problem;
  query(request: Request): LogCaller | Problem;
  /** Schemes of the documents by which callers sign in; none where nobody has to. */
  readonly security: readonly string[];
  /** What `/health` tells about it. */
  readonly mode: { readonly required: boolean; readonly bearer: boolean; readonly basic: boolean };
  /** How callers sign in, in words. */
  readonly signIn: string;
}

/** What the document says of routes that a producer's token does not open. */
export const notForProducers = (route: Route): Route => ({
  ...route,
  answers: {
    ...route.answers,
    403: { description: 'A producer may only send records; or the Host or Origin is not allowed' },
  },
});

/**
 * With neither a token nor a password everybody may do everything. A bearer token that is none of the configured ones is
 * refused all the same: its sender believes that it counts.
 */
export function createLogAdmission({ apiToken, username, password, producers }: Credentials): LogAdmission {
  const bearer = apiToken !== undefined;
  const basic = username !== undefined && password !== undefined;
  const open = !bearer && !basic;
  const tokens = producers.map(({ id, token }) => ({ id, isIt: equals(token) }));
  const isApiToken = equals(apiToken);
  const [isUsername, isPassword] = [equals(username), equals(password)];

  const producerOf = (request: Request) => {
    const { bearer: token } = request;
    return token === undefined ? undefined : tokens.find(({ isIt }) => isIt(token))?.id;
  };

  const isWrongBearer = (request: Request) =>
    tokens.length > 0 && BEARER.test(request.headers.authorization ?? '') && producerOf(request) === undefined;

  function signedIn(request: Request): LogCaller | undefined {
    const { bearer: token, basic: given } = request;
    if (bearer && token !== undefined && isApiToken(token)) return caller('api');
    if (basic && given) {
      // Both are compared in any case, so that the time tells nothing.
      const [name, secret] = [isUsername(given.username), isPassword(given.password)];
      if (name && secret) return { actor: 'basic', producerId: given.username };
    }
    return open && !isWrongBearer(request) ? caller('anonymous') : undefined;
  }

  return {
    ingest(request) {
      const producerId = producerOf(request);
      if (producerId !== undefined) return { actor: producerId, producerId };
      return signedIn(request) ?? UNAUTHORIZED;
    },
    query(request) {
      const producerId = open ? undefined : producerOf(request);
      return producerId === undefined ? (signedIn(request) ?? UNAUTHORIZED) : INGEST_ONLY;
    },
    security: open ? [] : LOG_SECURITY,
    mode: { required: !open, bearer, basic },
    signIn: signIn(bearer, basic, producers.length > 0),
  };
}

function signIn(bearer: boolean, basic: boolean, producers: boolean): string {
  const ways = [
    ...(bearer ? ['logs.apiToken as a bearer token'] : []),
    ...(basic ? ['the name and password of logs.basic'] : []),
    ...(producers ? ['the tokens of logs.producers, to send records'] : []),
  ];
  if (bearer || basic) return `sign in with ${ways.join(', or ')}`;
  if (producers) return READING_OPEN;
  return 'everybody who reaches it may use it; logs.apiToken or logs.basic.* would ask for credentials';
}

const READING_OPEN =
  'logs.producers is set and logs.apiToken is not: reading is open to everybody who reaches it; set logs.apiToken to close it';

const caller = (actor: string): LogCaller => ({ actor, producerId: DEFAULT_PRODUCER });

/** Compares in constant time; nothing equals what is not configured. */
function equals(secret: string | undefined): (given: string) => boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  const wanted = digest(secret ?? '');
  return (given) => timingSafeEqual(digest(given), wanted) && secret !== undefined;
}
