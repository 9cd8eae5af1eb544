/** Sends hand-made gRPC calls that no driver would send; the engine must keep working after each. */
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { expect } from 'chai';
import { field, message, numberField } from '../../eventstore/wire/protobuf.js';
import { SECRET } from './eventstore.js';
import { freshStream, numberedEvent, numbersOf, useEventStore } from './eventstore-client.js';

export const STREAMS = '/event_store.client.streams.Streams';
export const NOTHING = Buffer.alloc(0);

export interface Answer {
  readonly httpStatus: number;
  readonly grpcStatus: string | undefined;
  readonly body: Buffer;
}

/** Options of a writing call: the stream, and any revision. */
export const target = (stream: string) => message(field(1, field(3, stream)), field(4, NOTHING));
export const uuid = (id: string) => field(2, id);
export const entry = (key: string, value: string) => field(2, message(field(1, key), field(2, value)));
export const proposed = (id: string, type: string) =>
  message(field(1, uuid(id)), entry('type', type), entry('content-type', 'application/json'), field(4, '{}'));
export const batchAppend = (correlationId: string, stream: string, events: Buffer[], isFinal: boolean) =>
  message(
    field(1, uuid(correlationId)),
    field(2, target(stream)),
    ...events.map((event) => field(3, event)),
    numberField(4, isFinal ? 1 : 0),
  );

export const headersOf = (path: string, secret = SECRET) => ({
  ':method': 'POST',
  ':path': path,
  'content-type': 'application/grpc',
  'connection-name': secret,
});

/** Provides an embedded engine to all tests of a `describe`, with a new session for each test. */
export function useWire() {
  const store = useEventStore();
  let session: ClientHttp2Session;
  const port = () => store.server.embedded!.port;
  const open = () => {
    session = connect(`http://127.0.0.1:${port()}`);
    session.on('error', () => {});
  };
  beforeEach(open);
  afterEach(async () => {
    session.destroy();
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvent(1));
    expect(await numbersOf(store.client.readStream(stream))).deep.equal([1]);
  });

  async function call(path: string, body: Buffer, headers: Record<string, string> = {}): Promise<Answer> {
    const request = session.request({
      ...headersOf(path),
      te: 'trailers',
      ...headers,
    });
    const answer = { httpStatus: 0, grpcStatus: undefined as string | undefined };
    const note = (received: Record<string, unknown>) => {
      answer.httpStatus ||= Number(received[':status']);
      if (received['grpc-status'] !== undefined) answer.grpcStatus = String(received['grpc-status']);
    };
    request.on('response', note);
    request.on('trailers', note);
    request.on('error', () => {});
    request.end(body);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(request, 'close');
    return { ...answer, body: Buffer.concat(chunks) };
  }

  /** Starts a call that the test continues. */
  const begin = (path: string, secret?: string): ClientHttp2Stream => session.request(headersOf(path, secret));

  return {
    store,
    port,
    call,
    begin,
    /** Returns the current session. */
    session: () => session,
    /** Replaces the session by a new one. */
    open,
  };
}
