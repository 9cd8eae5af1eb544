/** Where the other nodes come in: hears what they say, and tells them when it was heard. */
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Logger, MessageHandler } from '../../application/ports/index.js';
import type { After } from '../platform/process/timer.js';
import { decodeFrame, encodeHeard, FRAME_BYTES, type Frame } from './frames.js';
import { watchLiving } from './keepalive.js';
import { secured } from './psk-tls.js';

export interface DoorOptions {
  readonly run: string;
  readonly key: Buffer;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** By the channel that is spoken on; what is said on one that nobody hears comes to nobody. */
  readonly hears: ReadonlyMap<string, MessageHandler>;
  readonly logger: Logger;
  readonly after: After;
}

export interface Door {
  readonly port: number;
  /** Cuts all that came in. */
  close(): Promise<void>;
}

/** Who has not proven itself by then is cut. */
const PROVEN_MS = 3000;
/** Who has not proven itself yet; beyond it the longest of them is cut for the newest, which may be a node. */
const STRANGERS = 64;
/** https://www.iana.org/assignments/websocket/websocket.xhtml#close-code-number */
const NOT_UNDERSTOOD = 1002;

/** Names in the request that opens a connection. */
export const FROM = 'mesh-from';
export const TO = 'mesh-to';

/** Rejects if the address is taken or not ours. */
export async function openDoor({ run, key, host, port, hears, logger, after }: DoorOptions): Promise<Door> {
  const server = createServer({
    ...secured(key).server,
    handshakeTimeout: PROVEN_MS,
    headersTimeout: PROVEN_MS,
    connectionsCheckingInterval: PROVEN_MS,
  });
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: FRAME_BYTES,
  });
  const open = new Set<Socket>();
  const strangers = new Map<string, Socket>();
  const endOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;

  server.on('connection', (socket: Socket) => {
    const end = endOf(socket);
    const [longest] = strangers.values();
    if (longest && strangers.size >= STRANGERS) longest.destroy();
    open.add(socket);
    strangers.set(end, socket);
    socket.once('close', () => {
      open.delete(socket);
      if (strangers.get(end) === socket) strangers.delete(end);
    });
  });
  server.on('secureConnection', (socket: TLSSocket) => strangers.delete(endOf(socket)));
  server.on('tlsClientError', (err) => logger.debug({ err }, 'somebody at the door of the nodes is none'));
  server.on('clientError', (_, socket) => socket.destroy());
  // Nothing is served here but connections.
  server.on('request', (_, response) => response.writeHead(404, { Connection: 'close' }).end());
  server.on('upgrade', (request, socket: Socket, head) => {
    socket.on('error', () => socket.destroy());
    const from = request.headers[FROM];
    // Whose address it was is gone, and the port is another's now.
    if (request.headers[TO] !== run || typeof from !== 'string') return socket.destroy();
    sockets.handleUpgrade(request, socket, head, (opened) => listenTo(opened, from));
  });

  function listenTo(socket: WebSocket, from: string) {
    socket.on('error', (err) => logger.debug({ err, from }, 'a connection of another node broke'));
    watchLiving(socket, after);
    socket.on('message', (bytes, isBinary) => {
      const frame = isBinary ? decodeFrame(bytes as Buffer) : undefined;
      if (frame) void take(socket, from, frame);
      else socket.close(NOT_UNDERSTOOD);
    });
  }

  async function take(socket: WebSocket, from: string, { channel, said, number }: Frame) {
    let came = false;
    try {
      came = (await hears.get(channel)?.(from, said)) ?? false;
    } catch (err) {
      logger.error({ err, channel }, 'what another node said was not heard');
    }
    // Nobody waits any more once it is closed.
    if (number !== undefined) socket.send(encodeHeard({ number, came }), () => {});
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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
