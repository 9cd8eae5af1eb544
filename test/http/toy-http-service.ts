/** A small HTTP service for tests of the server, on a free port. */
import { createDerivation } from '../../adapters/crypto/derivation.js';
import { type Listening, type ListenOptions, listen } from '../../adapters/http/server/http-server.js';
import { type Cors, cors, type ServicePolicy } from '../../adapters/http/server/policy.js';
import type { Route } from '../../adapters/http/server/route.js';
import type { Logger } from '../../application/ports/index.js';
import { send } from '../support/http-spec.js';

export interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: { readonly [name: string]: unknown };
}

/** A logger that records its lines. */
export function recordLines(): { logger: Logger; lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields: { ...fields } });
  return { lines, logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } };
}

export const anyOrigin: Cors = cors({ origins: ['*'], methods: ['GET', 'POST'], headers: ['Content-Type'] });

export const toyPolicy: ServicePolicy = {
  service: 'toys',
  title: 'Toys',
  version: '1.2.3',
  cors: anyOrigin,
  headers: { 'X-Content-Type-Options': 'nosniff' },
};

export interface Toys extends Listening {
  readonly lines: readonly Line[];
  /** Sends a request and reads the answer, as JSON where it is JSON. */
  ask(path: string, init?: RequestInit): Promise<ToyAnswer>;
  /** Sends a POST with a JSON body; strings are sent as they are. */
  post(path: string, body: unknown, headers?: { [name: string]: string }): Promise<ToyAnswer>;
}

export interface ToyAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: { readonly [name: string]: unknown };
}

/** Serves the routes; the caller closes the server. */
export async function serveToys(
  routes: readonly Route[],
  policy: Partial<ServicePolicy> = {},
  options: Partial<ListenOptions> = {},
): Promise<Toys> {
  const { logger, lines } = recordLines();
  const listening = await listen({ ...toyPolicy, ...policy }, routes, {
    host: '127.0.0.1',
    port: 0,
    logger,
    derivation: createDerivation(Buffer.alloc(32, 7)),
    clientAddress: (address) => address,
    ...options,
  });
  const ask = async (path: string, init?: RequestInit): Promise<ToyAnswer> => {
    const response = await fetch(listening.url + path, init);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : {} };
  };
  return {
    ...listening,
    lines,
    ask,
    post: (path, body, headers = {}) =>
      ask(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  };
}

/** A route that answers with what it received. */
export const echo = (route: Partial<Route>): Route => ({
  method: 'POST',
  path: '/echo',
  summary: 'Echo',
  answers: { 200: { description: 'The received input' } },
  handle: ({ body, query, params, address }) => ({ status: 200, body: { body, query, params, address } }),
  ...route,
});

/** Requests the toys with headers that `fetch` would not send; resolves with the status. */
export const statusWith =
  (toys: Toys) =>
  (headers: { [name: string]: string }, method = 'GET') =>
    send(toys.url, { method, path: '/toys', headers }).then(({ status }) => status);
