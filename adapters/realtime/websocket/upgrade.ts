/** The way of a WebSocket upgrade (RFC 6455, section 4.2): it is a request like every other until it is admitted. */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { type Problem, problem } from '../../http/server/problem.js';
import type { Sink } from '../relay/sink.js';
import { withoutUpgrade } from './ignore-upgrades.js';
import { type Opening, runSession } from './session.js';
import { socketSink } from './sink.js';

interface Upgrade {
  readonly network: Duplex;
  /** What the client has sent already. */
  readonly head: Buffer;
  /** With the headers that every answer has. */
  readonly response: ServerResponse;
  /** Hears of errors until somebody takes the connection over. */
  readonly broken: () => void;
  /** Hears that the answer is written, unless somebody takes the connection over. */
  readonly answered: () => void;
}

/** Larger messages close the connection with 1009. */
const MESSAGE_BYTES = 1024 * 1024;
/** Each piece of a message costs a hundred bytes and more, however small: a few times as many as segments bring. */
const MESSAGE_PIECES = 4096;

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

const WANTED = { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
const NO_HANDSHAKE = problem(400, 'The WebSocket handshake is not valid');
const OTHER_UPGRADE = problem(501, 'A request with a body can not ask for an upgrade');

/** For node's `upgrade`: makes the request an ordinary one, which is answered, or taken over by `openSocket`. */
export function asRequest(
  respond: (request: IncomingMessage, response: ServerResponse) => void,
): (request: IncomingMessage, network: Duplex, head: Buffer) => void {
  return (request, network, head) => {
    const response = new ServerResponse(request);
    // Node reads nothing more from here as HTTP.
    response.shouldKeepAlive = false;
    const answered = () => {
      response.detachSocket(request.socket);
      response.emit('close');
      network.end();
    };
    response.once('finish', answered);
    const broken = () => void network.destroy();
    network.on('error', broken);
    upgrades.set(request, { network, head, response, broken, answered });
    respond(request, response);
  };
}

/**
 * Whether a request, whose turn it is, asks to be upgraded to anything else than a WebSocket. It is put back then, and
 * its connection is to be read anew: as node hands upgrades over, it would have lost its body.
 */
export function isPutBack(request: IncomingMessage, response: ServerResponse): boolean {
  const upgrade = upgrades.get(request);
  if (!upgrade || request.headers.upgrade?.toLowerCase() === 'websocket') return false;
  const { network, head, broken } = upgrade;
  network.off('error', broken);
  network.unshift(Buffer.concat([withoutUpgrade(request), head]));
  // Nothing is said by this one.
  response.emit('close');
  return true;
}

/** Gives the answer to an upgrade what it is written to; does nothing for any other request. */
export function attach(request: IncomingMessage, response: ServerResponse): void {
  if (upgrades.has(request)) response.assignSocket(request.socket);
}

/** Why an upgrade can't be, whoever asks for it; `wanted` where the route is a WebSocket. */
export function upgradeProblem(
  request: IncomingMessage,
  response: ServerResponse,
  wanted: boolean,
): Problem | undefined {
  const { headers, method } = request;
  if (!wanted) return upgrades.has(request) && hasBody(request) ? OTHER_UPGRADE : undefined;
  if (!upgrades.has(request) || headers.upgrade?.toLowerCase() !== 'websocket') return noUpgrade(response);
  if (headers['sec-websocket-version'] !== '13') return noUpgrade(response);
  const isKey = /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '');
  return method === 'GET' && isKey && !hasBody(request) ? undefined : NO_HANDSHAKE;
}

/** Who asks for the connection to be closed after it finds it closed all the same. */
function noUpgrade(response: ServerResponse): Problem {
  const isLast = !response.shouldKeepAlive || response.getHeader('Connection') === 'close';
  const headers = { ...WANTED, Connection: isLast ? 'close, Upgrade' : 'Upgrade' };
  return problem(426, 'This is a WebSocket', { headers });
}

/** Nobody reads it: of an upgrade, node takes everything after the header for what comes next. */
const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || !/^0*$/.test(headers['content-length'] ?? '');

const server = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MESSAGE_BYTES,
  maxFragments: MESSAGE_PIECES,
  maxBufferedChunks: MESSAGE_PIECES,
});
// It writes the 101 by itself.
server.on('headers', (lines, request) => {
  const headers = upgrades.get(request)!.response.getHeaders();
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
});

/** Opens what was admitted; the response is nobody's from here on. */
export function openSocket(
  request: IncomingMessage,
  response: ServerResponse,
  { converse, options }: Opening,
  opened?: (sink: Sink) => void,
): void {
  const { network, head, answered } = upgrades.get(request)!;
  // For whoever counts answers.
  response.statusCode = 101;
  response.detachSocket(request.socket);
  server.handleUpgrade(request, network, head, (socket) => {
    const sink = socketSink(socket, network);
    runSession(socket, network, (close) => converse({ sink, close }), options);
    opened?.(sink);
  });
  // It is answered, for whoever would otherwise wait for that, request and all, as long as the socket is open.
  response.off('finish', answered);
  response.emit('finish');
}
