/** Accepts connections of other nodes: passes messages to the channel handlers and acknowledges them. */
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type WebSocket, WebSocketServer } from 'ws';
import type { After } from '../../application/concurrency/index.js';
import type { Logger, MessageHandler } from '../../application/ports/index.js';
import {
  decodeFrame,
  encodeAcknowledgement,
  FRAME_BYTES,
  FROM_HEADER,
  type Frame,
  keepAlive,
  pskTls,
  TO_HEADER,
} from './protocol.js';

export interface ListenerOptions {
  readonly nodeId: string;
  readonly key: Buffer;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Handlers by channel. Messages on a channel without a handler are acknowledged as not delivered. */
  readonly handlers: ReadonlyMap<string, MessageHandler>;
  readonly logger: Logger;
  readonly after: After;
}

/** Milliseconds a peer has to complete the TLS handshake. */
const HANDSHAKE_MS = 3000;
/** TLS handshakes at a time. Beyond it the oldest is dropped for the newest, which may be a node. */
const MAX_HANDSHAKES = 64;
/** https://www.iana.org/assignments/websocket/websocket.xhtml#close-code-number */
const PROTOCOL_ERROR = 1002;

/** Rejects if the address is in use or not local. */
export async function openListener({ nodeId, key, host, port, handlers, logger, after }: ListenerOptions) {
  const server = createServer({
    ...pskTls(key).server,
    handshakeTimeout: HANDSHAKE_MS,
    headersTimeout: HANDSHAKE_MS,
    connectionsCheckingInterval: HANDSHAKE_MS,
  });
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: FRAME_BYTES,
  });
  const open = new Set<Socket>();
  const handshakes = new Map<string, Socket>();
  const endpointOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

  server.on('connection', (socket: Socket) => {
    const endpoint = endpointOf(socket);
    const [oldest] = handshakes.values();
    if (oldest && handshakes.size >= MAX_HANDSHAKES) oldest.destroy();
    open.add(socket);
    handshakes.set(endpoint, socket);
    socket.once('close', () => {
      open.delete(socket);
      if (handshakes.get(endpoint) === socket) handshakes.delete(endpoint);
    });
  });
  server.on('secureConnection', (socket: TLSSocket) => handshakes.delete(endpointOf(socket)));
  server.on('tlsClientError', (err) =>
    logger.debug({ err }, 'rejected a connection to the cluster port: not a node of this installation'),
  );
  server.on('clientError', (_, socket) => socket.destroy());
  // Only WebSocket upgrades are served.
  server.on('request', (_, response) => response.writeHead(404, { Connection: 'close' }).end());
  server.on('upgrade', (request, socket: Socket, head) => {
    socket.on('error', () => socket.destroy());
    const from = request.headers[FROM_HEADER];
    // Meant for a process that has ended; this one reuses its port.
    if (request.headers[TO_HEADER] !== nodeId || typeof from !== 'string') return socket.destroy();
    sockets.handleUpgrade(request, socket, head, (opened) => receive(opened, from));
  });

  function receive(socket: WebSocket, from: string) {
    socket.on('error', (err) => logger.debug({ err, from }, 'connection of another node failed'));
    keepAlive(socket, after);
    socket.on('message', (bytes, isBinary) => {
      const frame = isBinary ? decodeFrame(bytes as Buffer) : undefined;
      if (frame) void handle(socket, from, frame);
      else socket.close(PROTOCOL_ERROR);
    });
  }

  async function handle(socket: WebSocket, from: string, { channel, message, number }: Frame) {
    let delivered = false;
    try {
      delivered = (await handlers.get(channel)?.(from, message)) ?? false;
    } catch (err) {
      logger.error({ err, channel }, 'cannot handle a message of another node');
    }
    // A closed connection has no waiting sender.
    if (number !== undefined) socket.send(encodeAcknowledgement({ number, delivered }), () => {});
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    /** Stops listening and cuts all connections. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
