/** Answers bytes that are not HTTP, and requests for a tunnel. */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBodyOf, JSON_TYPE } from '../server/answer.js';
import { type Problem, problem, type ServicePolicy, TOO_SLOW } from '../server/policy.js';

const NOT_HTTP = problem(400, 'The request is not valid HTTP');
const NO_TUNNEL = problem(405, 'CONNECT is not supported');
const CLIENT_ERRORS: { readonly [code: string]: Problem } = {
  HPE_HEADER_OVERFLOW: problem(431, 'The request header is too large'),
  ERR_HTTP_REQUEST_TIMEOUT: problem(408, TOO_SLOW),
};

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
