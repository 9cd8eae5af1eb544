/** Answers what is not HTTP, or no longer: it reaches no route, and gets the JSON and the headers of its service all the same. */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBodyOf, JSON_TYPE, retryAfter } from '../server/answer.js';
import type { ServicePolicy } from '../server/policy.js';
import { type Problem, problem, TOO_SLOW } from '../server/problem.js';

const NOT_HTTP = problem(400, 'The request is not valid HTTP');
const NO_TUNNEL = problem(405, 'CONNECT is not possible here');
const CLIENT_ERRORS: { readonly [code: string]: Problem } = {
  HPE_HEADER_OVERFLOW: problem(431, 'The header is too large'),
  ERR_HTTP_REQUEST_TIMEOUT: problem(408, TOO_SLOW),
};

/** For node's `clientError` and `connect`. */
export function createRefusal(policy: ServicePolicy) {
  function write(socket: Duplex, refused: Problem) {
    const body = JSON.stringify(errorBodyOf(refused, policy));
    const { retryAfterMs } = refused;
    const headers = {
      Connection: 'close',
      ...(retryAfterMs !== undefined && { 'Retry-After': retryAfter(retryAfterMs) }),
      'X-Request-Id': randomUUID(),
      ...policy.headers,
      ...policy.cors({ origin: undefined, path: '', preflight: false }),
      'Content-Type': JSON_TYPE,
      'Content-Length': String(Buffer.byteLength(body)),
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const status = refused.problem;
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  }

  return {
    /** Ends a connection that is nobody else's to answer, such as one to be upgraded. */
    write,
    broken(error: NodeJS.ErrnoException, socket: Duplex) {
      if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
      write(socket, CLIENT_ERRORS[error.code ?? ''] ?? NOT_HTTP);
    },
    tunnel: (socket: Duplex) => {
      socket.on('error', () => socket.destroy());
      write(socket, NO_TUNNEL);
    },
  };
}
