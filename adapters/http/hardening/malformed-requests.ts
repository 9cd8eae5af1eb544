/** Stops requests that proxies and this server may read differently, and answers bytes that are not HTTP. */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context } from 'koa';
import { errorBodyOf, JSON_TYPE } from '../server/answer.js';
import { type Problem, problem, type ServicePolicy, TOO_SLOW } from '../server/policy.js';

const NO_HOST = problem(400, 'The Host header is missing');
const SEVERAL_HOSTS = problem(400, 'The request has more than one Host header');
const NO_TARGET = problem(400, 'The target of the request is invalid');
const NOT_HTTP = problem(400, 'The request is not valid HTTP');
const NO_TUNNEL = problem(405, 'CONNECT is not supported');
const CLIENT_ERRORS: { readonly [code: string]: Problem } = {
  HPE_HEADER_OVERFLOW: problem(431, 'The request header is too large'),
  ERR_HTTP_REQUEST_TIMEOUT: problem(408, TOO_SLOW),
};

/** Finds an invalid target, and a missing or ambiguous host, which node's parser accepts. */
export function findMalformation(ctx: Context): Problem | undefined {
  if (!isReadable(ctx)) return NO_TARGET;
  const { httpVersion, headers, rawHeaders } = ctx.req;
  // HTTP/1.0 has no Host. Later versions require exactly one: proxies disagree on which of two counts.
  if (headers.host === undefined) return httpVersion === '1.0' ? undefined : NO_HOST;
  return countHeaders('host', rawHeaders) > 1 ? SEVERAL_HOSTS : undefined;
}

/** `rawHeaders` alternates names and values. Allocates nothing, as it runs for every request. */
function countHeaders(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index]!;
    if (each.length === name.length && each.toLowerCase() === name) count++;
  }
  return count;
}

/** The host a request is for. An absolute target, as sent to proxies, takes precedence (RFC 9112, 3.2.2). */
export function hostOf({ url = '', headers }: Context['req']): string | undefined {
  if (url.startsWith('/')) return headers.host;
  return /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? headers.host;
}

/** An absolute target may be an invalid URL or have no path (`http://`); koa throws only when it is accessed. */
function isReadable(ctx: Context): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}

/** Creates handlers for node's events `clientError` and `connect`, which answer in the error format of the service. */
export function createProtocolErrorHandlers(policy: ServicePolicy) {
  function write(socket: Duplex, problem: Problem) {
    const body = JSON.stringify(errorBodyOf(problem, policy));
    const headers = {
      Connection: 'close',
      'X-Request-Id': randomUUID(),
      ...policy.headers,
      ...policy.cors({ origin: undefined, path: '', preflight: false }),
      'Content-Type': JSON_TYPE,
      'Content-Length': String(Buffer.byteLength(body)),
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const status = problem.problem;
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  }

  return {
    clientError(error: NodeJS.ErrnoException, socket: Duplex) {
      if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
      write(socket, CLIENT_ERRORS[error.code ?? ''] ?? NOT_HTTP);
    },
    connect: (socket: Duplex) => {
      socket.on('error', () => socket.destroy());
      write(socket, NO_TUNNEL);
    },
  };
}
