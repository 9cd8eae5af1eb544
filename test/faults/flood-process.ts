/**
 * Floods an engine without knowing its secret, until it is killed: `fork(this, [port, kind])`. Reconnects when it is cut off. Sends a
 * message when it begins.
 */
import { connect } from 'node:net';
import { opMsg } from '@annals/engines/testing/raw-client.js';

const CONNECTIONS = 4;
const [, , port = '0', kind = ''] = process.argv;

const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const CONTINUATION = 9;
const END_HEADERS = 4;

function frame(type: number, flags: number, stream: number, body: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(SETTINGS, 0, 0, Buffer.alloc(0)),
]);

/** A header field that is not indexed. */
const literal = (name: string, value: string) =>
  Buffer.concat([Buffer.of(0, name.length), Buffer.from(name), Buffer.of(value.length), Buffer.from(value)]);

const POST = Buffer.concat([
  Buffer.of(0x83, 0x86),
  literal(':path', '/event_store.client.server_features.ServerFeatures/GetSupportedMethods'),
  literal(':authority', 'localhost'),
  literal('content-type', 'application/grpc'),
]);

const PADDING = Buffer.concat(Array<Buffer>(80).fill(literal(`x-${'a'.repeat(60)}`, 'b'.repeat(120))));

/** What each flood sends with one stream. */
const STREAMS: Record<string, (id: number) => readonly Buffer[]> = {
  'rapid resets': (id) => [frame(HEADERS, END_HEADERS, id, POST), frame(RST_STREAM, 0, id, Buffer.of(0, 0, 0, 8))],
  continuations: (id) => [
    frame(HEADERS, 0, id, POST),
    ...Array<Buffer>(6).fill(frame(CONTINUATION, 0, id, PADDING)),
    frame(CONTINUATION, END_HEADERS, id, PADDING),
  ],
};

/** Streams of one connection; of more resets than this the HTTP/2 library itself ends the connection. */
const MOST_STREAMS = 900;
const STREAMS_AT_ONCE = 30;

function* http2(streamOf: (id: number) => readonly Buffer[]): Generator<Buffer> {
  yield PREFACE;
  for (let first = 0; first < MOST_STREAMS; first += STREAMS_AT_ONCE) {
    const ids = Array.from({ length: STREAMS_AT_ONCE }, (_, n) => 2 * (first + n) + 1);
    yield Buffer.concat(ids.flatMap(streamOf));
  }
}

function* greetings(): Generator<Buffer> {
  const hellos = Buffer.concat(Array<Buffer>(200).fill(opMsg({ hello: 1, $db: 'admin' })));
  for (let sent = 0; sent < 500; sent++) yield hellos;
}

function flood(): void {
  const streamOf = STREAMS[kind];
  const sending = streamOf ? http2(streamOf) : greetings();
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  socket.on('data', () => {});
  socket.on('close', () => setImmediate(flood));
  const send = (): void => {
    for (let next = sending.next(); !next.done; next = sending.next())
      if (!socket.write(next.value)) return void socket.once('drain', send);
    socket.destroy();
  };
  socket.on('connect', send);
}

process.on('disconnect', () => process.exit(0));
for (let n = 0; n < CONNECTIONS; n++) flood();
process.send?.('begun');
