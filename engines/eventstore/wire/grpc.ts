/** gRPC framed by hand on node:http2: one `Call` per request stream, a third cheaper than a full gRPC library. */
import {
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import { type HeldPort, heldPortOf, listenOn } from '../../supervisor/held-port.js';
import { createStrangers } from '../../supervisor/unauthenticated-limit.js';
import type { Admission } from './admission.js';
import { frame, unframe } from './framing.js';
import { GrpcError, Status } from './status.js';

/** Bytes of the largest message that is taken. */
export const MAX_MESSAGE = 16 << 20;

/** Bytes of the largest message of a caller who is not known: what such callers may ask has no content. */
const MAX_STRANGERS_MESSAGE = 1024;

/** What one connection may make the engine hold, answers that are not read included. */
const MAX_SESSION_MEGABYTES = 256;

export interface Call {
  /** Aborted when the client is gone, or the call's deadline has passed, or it was answered. */
  readonly signal: AbortSignal;
  /** Unix ms; undefined when the client set none. */
  readonly deadline: number | undefined;
  /** Every message of the client as it comes; `end` after the last. What they throw ends the call. */
  receive(message: (bytes: Buffer) => void, end: () => void): void;
  /** Sends messages in one frame; resolves when the client can take more. */
  send(messages: readonly Buffer[]): Promise<void>;
  /** Sends a message together with all others of this turn. */
  sendSoon(message: Buffer): void;
  end(): void;
  fail(error: unknown): void;
}

export type Handler = (call: Call) => void;

export interface GrpcServer {
  readonly port: number;
  readonly held: HeldPort;
  close(): Promise<void>;
}

/**
 * Serves `handlers`, named by their full path, on 127.0.0.1, to those whom `admission` lets in; without it, to all.
 * `describe` turns any error into a status.
 */
export async function serveGrpc(
  at: number | HeldPort,
  handlers: ReadonlyMap<string, Handler>,
  describe: (error: unknown) => GrpcError,
  admission?: Admission,
): Promise<GrpcServer> {
  const sessions = new Set<ServerHttp2Session>();
  const strangers =
    admission &&
    createStrangers<Http2Session>(
      (session) => (session.destroyed ? 0 : (session.socket?.bytesRead ?? 0)),
      // Node 22 and later abort the process where a session is destroyed in its `stream` event and data follow.
      (session) => void setImmediate(() => session.destroy()),
    );
  const sessionServer = createServer({
    maxSessionMemory: MAX_SESSION_MEGABYTES,
    settings: { initialWindowSize: 4 << 20, maxConcurrentStreams: 10_000 },
  });
  // Refused before HTTP/2 begins, which takes a hundred times as long as to accept a connection.
  const server = createTcpServer((socket) => {
    if (strangers && !strangers.admit()) socket.destroy();
    else sessionServer.emit('connection', socket);
  });
  sessionServer.on('session', (session) => {
    sessions.add(session);
    strangers?.come(session);
    session.setLocalWindowSize(16 << 20);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => session.destroy());
  });
  sessionServer.on('sessionError', () => {});
  sessionServer.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const known = admission?.knows(headers) ?? true;
    const { session } = stream;
    if (session && known) strangers?.known(session);
    else if (session && strangers?.call(session) === false) return;
    const call = openCall(stream, headers, describe, known ? MAX_MESSAGE : MAX_STRANGERS_MESSAGE);
    const refusal = refuse(headers, handlers) ?? (known ? undefined : admission?.refuse(headers));
    if (refusal) call.fail(refusal);
    else handlers.get(headers[':path'] ?? '')?.(call);
  });
  const port = await listenOn(server, at);
  return {
    port,
    held: heldPortOf(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
      }),
  };
}

function refuse(headers: IncomingHttpHeaders, handlers: ReadonlyMap<string, Handler>): GrpcError | undefined {
  const path = String(headers[':path']);
  if (!headers['content-type']?.startsWith('application/grpc')) {
    return new GrpcError(Status.INTERNAL, 'Only application/grpc is served here.');
  }
  if (!handlers.has(path)) return new GrpcError(Status.UNIMPLEMENTED, `Method ${path} is unimplemented.`);
  return undefined;
}

const HEADERS = { ':status': 200, 'content-type': 'application/grpc', 'grpc-accept-encoding': 'identity' };

function openCall(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  describe: (error: unknown) => GrpcError,
  maxMessage: number,
): Call {
  const abort = new AbortController();
  const timeout = parseTimeout(headers['grpc-timeout']);
  let trailers: Record<string, string> = { 'grpc-status': '0' };
  let soon: Buffer[] = [];
  let answered = false;
  const timer = timeout === undefined ? undefined : setTimeout(expire, Math.min(timeout, MAX_TIMER));

  function expire(): void {
    call.fail(new GrpcError(Status.DEADLINE_EXCEEDED, 'Deadline Exceeded'));
  }

  function finish(): void {
    answered = true;
    clearTimeout(timer);
    abort.abort();
  }

  /** A client may have reset the stream before its handler even begins. */
  const gone = (): boolean => answered || stream.closed || stream.destroyed;

  function respond(): void {
    if (!stream.headersSent) stream.respond(HEADERS, { waitForTrailers: true });
  }

  stream.on('wantTrailers', () => {
    if (!stream.closed && !stream.destroyed) stream.sendTrailers(trailers);
  });
  stream.on('close', finish);

  const call: Call = {
    signal: abort.signal,
    deadline: timeout === undefined ? undefined : Date.now() + timeout,
    receive(message, end) {
      if (gone()) return;
      respond();
      const frames = unframe(maxMessage, (bytes) => !answered && message(bytes));
      const guarded = (step: () => void) => {
        if (answered) return;
        try {
          step();
        } catch (error) {
          call.fail(error);
        }
      };
      stream.on('data', (chunk: Buffer) => guarded(() => frames.push(chunk)));
      stream.on('end', () =>
        guarded(() => {
          frames.finish();
          end();
        }),
      );
    },
    send(messages) {
      if (gone()) return Promise.resolve();
      respond();
      if (stream.write(frame(messages))) return Promise.resolve();
      return new Promise((resolve) => {
        const go = () => {
          stream.off('drain', go);
          abort.signal.removeEventListener('abort', go);
          resolve();
        };
        stream.on('drain', go);
        abort.signal.addEventListener('abort', go);
      });
    },
    sendSoon(message) {
      soon.push(message);
      if (soon.length > 1) return;
      queueMicrotask(() => {
        const messages = soon;
        soon = [];
        if (gone()) return;
        respond();
        if (stream.write(frame(messages)) || stream.isPaused()) return;
        // Who does not read the answers is not asked for more.
        stream.pause();
        stream.once('drain', () => stream.resume());
      });
    },
    end() {
      queueMicrotask(() => {
        if (gone()) return;
        finish();
        respond();
        stream.end();
      });
    },
    fail(error) {
      if (gone()) return;
      finish();
      const { code, message, metadata } = describe(error);
      trailers = { ...metadata, 'grpc-status': String(code), 'grpc-message': encodeURI(wellFormed(message)) };
      if (stream.headersSent) stream.end();
      else stream.respond({ ...HEADERS, ...trailers }, { endStream: true });
      // The client may still be sending: what it sends now is nobody's.
      stream.resume();
    },
  };
  return call;
}

/** Half a surrogate pair, which encodeURI throws on, becomes U+FFFD. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** What setTimeout can hold. */
const MAX_TIMER = 2 ** 31 - 1;
const UNITS: Record<string, number> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

function parseTimeout(header: string | string[] | undefined): number | undefined {
  const match = /^(\d{1,8})([HMSmun])$/.exec(String(header));
  return match ? Number(match[1]) * UNITS[match[2]!]! : undefined;
}

/** A handler for calls of one request message; what `answer` throws or rejects with fails the call. */
export const single =
  (answer: (bytes: Buffer, call: Call) => Promise<void>): Handler =>
  (call) => {
    let request: Buffer | undefined;
    call.receive(
      (bytes) => {
        if (request) throw new GrpcError(Status.INTERNAL, 'Additional data after the message received.');
        request = bytes;
      },
      () => {
        if (!request) throw new GrpcError(Status.INTERNAL, 'Incomplete message.');
        answer(request, call).catch((error) => call.fail(error));
      },
    );
  };

/** A handler for calls of one request message and one answer. */
export const unary = (answer: (bytes: Buffer, call: Call) => Promise<Buffer> | Buffer): Handler =>
  single(async (bytes, call) => {
    await call.send([await answer(bytes, call)]);
    call.end();
  });
