/** Handles WebSocket upgrades (RFC 6455, section 4.2) as ordinary requests until they are accepted. */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { type Problem, problem } from '../../http/server/policy.js';
import type { Sink } from '../relay/sink.js';
import { type AcceptedSocket, runSession } from './session.js';
import { socketSink } from './sink.js';

interface Upgrade {
  readonly network: Duplex;
  /** Bytes the client has sent after the header. */
  readonly head: Buffer;
  readonly response: ServerResponse;
  /** Finish listener, unless the connection is taken over. */
  readonly onFinish: () => void;
}

/** Larger messages close the connection with 1009. */
const MESSAGE_BYTES = 1024 * 1024;
/** Maximum fragments of a message, each costing at least a hundred bytes. A few times the number of TCP segments. */
const MESSAGE_PIECES = 4096;

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

const REQUIRED_HEADERS = { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
const NO_HANDSHAKE = problem(400, 'The WebSocket handshake is not valid');
const UPGRADE_WITH_BODY = problem(501, 'A request with a body cannot be upgraded');

/** Wraps a request in order of its connection, see `limitPipelining`. */
type InOrder = (request: IncomingMessage, response: ServerResponse, respond: () => void) => void;

/**
 * Handles Node's `upgrade` event: turns it into an ordinary request, which is answered, or taken over by `openSocket`.
 * A request for another protocol than WebSocket is put back without the upgrade, because Node has dropped its body.
 *
 * @param resume Parses a connection again from the bytes put back.
 */
export function handleUpgrades(
  inOrder: InOrder,
  respond: (request: IncomingMessage, response: ServerResponse) => void,
  resume: (socket: Socket) => void,
): (request: IncomingMessage, network: Duplex, head: Buffer) => void {
  return (request, network, head) => {
    const response = new ServerResponse(request);
    // Node parses no further HTTP on this connection.
    response.shouldKeepAlive = false;
    const onFinish = () => {
      response.detachSocket(request.socket);
      response.emit('close');
      network.end();
    };
    response.once('finish', onFinish);
    const onError = () => void network.destroy();
    network.on('error', onError);
    upgrades.set(request, { network, head, response, onFinish });
    inOrder(request, response, () => {
      if (isWebSocket(request)) {
        response.assignSocket(request.socket);
        respond(request, response);
        return;
      }
      network.off('error', onError);
      network.unshift(Buffer.concat([withoutUpgrade(request), head]));
      // This response stays unused.
      response.emit('close');
      resume(request.socket);
    });
  };
}

const isWebSocket = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket';

/** Returns why an upgrade is refused, regardless of the caller; `wanted` if the route is a WebSocket. */
export function upgradeProblem(
  request: IncomingMessage,
  response: ServerResponse,
  isSocketRoute: boolean,
): Problem | undefined {
  const { headers, method } = request;
  if (!isSocketRoute) return upgrades.has(request) && hasBody(request) ? UPGRADE_WITH_BODY : undefined;
  if (!upgrades.has(request)) return noUpgrade(response);
  if (headers['sec-websocket-version'] !== '13') return noUpgrade(response);
  const isKey = /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '');
  return method === 'GET' && isKey && !hasBody(request) ? undefined : NO_HANDSHAKE;
}

/** Keeps `Connection: close` if the client asked for it. */
function noUpgrade(response: ServerResponse): Problem {
  const isLast = !response.shouldKeepAlive || response.getHeader('Connection') === 'close';
  const headers = { ...REQUIRED_HEADERS, Connection: isLast ? 'close, Upgrade' : 'Upgrade' };
  return problem(426, 'This route is a WebSocket; send an upgrade request', { headers });
}

/** A body would not be read: Node passes everything after the header to the next protocol. */
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
// The library writes the 101 response itself.
server.on('headers', (lines, request) => {
  const headers = upgrades.get(request)!.response.getHeaders();
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
});

/** Opens an accepted WebSocket. The response must not be used afterwards. */
export function openSocket(
  request: IncomingMessage,
  response: ServerResponse,
  { converse, options }: AcceptedSocket,
  opened?: (sink: Sink) => void,
): void {
  const { network, head, onFinish } = upgrades.get(request)!;
  // For request metrics and logs.
  response.statusCode = 101;
  response.detachSocket(request.socket);
  server.handleUpgrade(request, network, head, (socket) => {
    const sink = socketSink(socket, network);
    runSession(socket, network, (close) => converse({ sink, close }), options);
    opened?.(sink);
  });
  // Signals completion, so that listeners do not hold the request as long as the socket is open.
  response.off('finish', onFinish);
  response.emit('finish');
}

/** Headers and connection options that only concern upgrades (RFC 7540, section 3.2). */
const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

/** Returns the header of a request without the parts that ask for an upgrade. Its body, if any, follows it. */
function withoutUpgrade({
  method,
  url,
  httpVersion,
  rawHeaders,
}: Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const lowerName = name.toLowerCase();
    const remaining = lowerName === 'connection' ? withoutUpgradeOptions(value) : value;
    if (!UPGRADE_HEADERS.has(lowerName) && (remaining !== '' || value === '')) lines.push(`${name}: ${remaining}`);
  }
  // Node decodes headers as latin1.
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

const withoutUpgradeOptions = (connection: string) =>
  connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => !UPGRADE_HEADERS.has(option.toLowerCase()))
    .join(', ');
