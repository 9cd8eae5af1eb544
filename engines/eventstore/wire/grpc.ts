/**
 * Minimal gRPC server on node:http2 with one `Call` per request stream; costs a third less than a full gRPC library.
 */
import {
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createTcpServer } from 'node:net';
import { type HeldPort, heldPortOf, listenOn } from '../../supervisor/held-port.js';
import { createUnauthenticatedLimit } from '../../supervisor/unauthenticated-limit.js';
import type { Admission } from './admission.js';
import { frame, unframe } from './framing.js';
import { GrpcError, Status } from './status.js';

/** Maximum bytes of a request message. */
export const MAX_MESSAGE = 16 << 20;

/** Maximum bytes of a request message from an unauthenticated caller; the methods open to it have no content. */
const MAX_UNAUTHENTICATED_MESSAGE = 1024;

/** Maximum memory per connection, including unread responses. */
const MAX_SESSION_MEGABYTES = 256;

export interface Call {
  /** Aborted when the client disconnects, the deadline passes or the call is answered. */
  readonly signal: AbortSignal;
  /** Unix ms; undefined if the client set none. */
  readonly deadline: number | undefined;
  /** Passes on each message of the client, then calls `end`. An error thrown by either fails the call. */
  receive(message: (bytes: Buffer) => void, end: () => void): void;
  /** Sends messages in one frame; resolves when the client can take more. */
  send(messages: readonly Buffer[]): Promise<void>;
  /** Queues a message and sends it together with all others queued in the same turn of the event loop. */
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
 * Serves `handlers`, keyed by full method path, on 127.0.0.1. Without `admission` every caller is served.
 * @param toStatus Converts any error into a status.
 */
export async function serveGrpc(
  at: number | HeldPort,
  handlers: ReadonlyMap<string, Handler>,
  toStatus: (error: unknown) => GrpcError,
  admission?: Admission,
): Promise<GrpcServer> {
  const sessions = new Set<ServerHttp2Session>();
  const limit =
    admission &&
    createUnauthenticatedLimit<Http2Session>(
      (session) => (session.destroyed ? 0 : (session.socket?.bytesRead ?? 0)),
      // Node 22 and later abort the process if a session is destroyed in its `stream` event and more data arrives.
      (session) => void setImmediate(() => session.destroy()),
    );
  const sessionServer = createServer({
    maxSessionMemory: MAX_SESSION_MEGABYTES,
    settings: { initialWindowSize: 4 << 20, maxConcurrentStreams: 10_000 },
  });
  // Refuses a connection before HTTP/2 starts, which costs a hundred times as much as accepting it.
  const server = createTcpServer((socket) => {
    if (limit && !limit.admit()) socket.destroy();
    else sessionServer.emit('connection', socket);
  });
  sessionServer.on('session', (session) => {
    sessions.add(session);
    limit?.add(session);
    session.setLocalWindowSize(16 << 20);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => session.destroy());
  });
  sessionServer.on('sessionError', () => {});
  sessionServer.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const isAuthenticated = admission?.isAuthenticated(headers) ?? true;
    const { session } = stream;
    if (session && isAuthenticated) limit?.markAuthenticated(session);
    else if (session && limit?.countCall(session) === false) return;
    const call = openCall(stream, headers, toStatus, isAuthenticated ? MAX_MESSAGE : MAX_UNAUTHENTICATED_MESSAGE);
    const refusal = refuse(headers, handlers) ?? (isAuthenticated ? undefined : admission?.refuse(headers));
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
  toStatus: (error: unknown) => GrpcError,
  maxMessage: number,
): Call {
  const abort = new AbortController();
  const timeout = parseTimeout(headers['grpc-timeout']);
  let trailers: Record<string, string> = { 'grpc-status': '0' };
  let pending: Buffer[] = [];
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

  /** A client may reset the stream even before its handler starts. */
  const isClosed = (): boolean => answered || stream.closed || stream.destroyed;

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
      if (isClosed()) return;
      respond();
      const frames = unframe(maxMessage, (bytes) => !answered && message(bytes));
      const failOnError = (step: () => void) => {
        if (answered) return;
        try {
          step();
        } catch (error) {
          call.fail(error);
        }
      };
      stream.on('data', (chunk: Buffer) => failOnError(() => frames.push(chunk)));
      stream.on('end', () =>
        failOnError(() => {
          frames.finish();
          end();
        }),
      );
    },
    send(messages) {
      if (isClosed()) return Promise.resolve();
      respond();
      if (stream.write(frame(messages))) return Promise.resolve();
      return new Promise((resolve) => {
        const resume = () => {
          stream.off('drain', resume);
          abort.signal.removeEventListener('abort', resume);
          resolve();
        };
        stream.on('drain', resume);
        abort.signal.addEventListener('abort', resume);
      });
    },
    sendSoon(message) {
      pending.push(message);
      if (pending.length > 1) return;
      queueMicrotask(() => {
        const messages = pending;
        pending = [];
        if (isClosed()) return;
        respond();
        if (stream.write(frame(messages)) || stream.isPaused()) return;
        // A client that does not read its responses is not read from either.
        stream.pause();
        stream.once('drain', () => stream.resume());
      });
    },
    end() {
      queueMicrotask(() => {
        if (isClosed()) return;
        finish();
        respond();
        stream.end();
      });
    },
    fail(error) {
      if (isClosed()) return;
      finish();
      const { code, message, metadata } = toStatus(error);
      trailers = { ...metadata, 'grpc-status': String(code), 'grpc-message': encodeURI(wellFormed(message)) };
      if (stream.headersSent) stream.end();
      else stream.respond({ ...HEADERS, ...trailers }, { endStream: true });
      // The client may still be sending; discard it.
      stream.resume();
    },
  };
  return call;
}

/** Replaces lone surrogates, on which encodeURI throws, by U+FFFD. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** Maximum delay of setTimeout. */
const MAX_TIMER = 2 ** 31 - 1;
const UNITS: Record<string, number> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

function parseTimeout(header: string | string[] | undefined): number | undefined {
  const match = /^(\d{1,8})([HMSmun])$/.exec(String(header));
  return match ? Number(match[1]) * UNITS[match[2]!]! : undefined;
}

/** Creates a handler for calls with one request message. If `answer` throws or rejects, the call fails. */
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

/** Creates a handler for calls with one request message and one response. */
export const unary = (answer: (bytes: Buffer, call: Call) => Promise<Buffer> | Buffer): Handler =>
  single(async (bytes, call) => {
    await call.send([await answer(bytes, call)]);
    call.end();
  });
