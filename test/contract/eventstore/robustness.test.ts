/** What no driver sends: one answer each, and the engine goes on; long, because one engine must survive all of it. */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { frame } from '../../../adapters/engines/eventstore/wire/framing.js';
import { field, message, numberField } from '../../../adapters/engines/eventstore/wire/protobuf.js';
import { SECRET } from '../../support/eventstore.js';
import { freshStream, numbered, numbersOf, useEventStore } from '../../support/eventstore-client.js';

const STREAMS = '/event_store.client.streams.Streams';
const NOTHING = Buffer.alloc(0);

interface Answer {
  readonly httpStatus: number;
  readonly grpcStatus: string | undefined;
  readonly body: Buffer;
}

/** Options of a writing call: the stream, and any revision. */
const target = (stream: string) => message(field(1, field(3, stream)), field(4, NOTHING));
const uuid = (id: string) => field(2, id);
const entry = (key: string, value: string) => field(2, message(field(1, key), field(2, value)));
const proposed = (id: string, type: string) =>
  message(field(1, uuid(id)), entry('type', type), entry('content-type', 'application/json'), field(4, '{}'));
const batchAppend = (correlationId: string, stream: string, events: Buffer[], isFinal: boolean) =>
  message(
    field(1, uuid(correlationId)),
    field(2, target(stream)),
    ...events.map((event) => field(3, event)),
    numberField(4, isFinal ? 1 : 0),
  );

if (!process.env.EVENTSTORE_URL) {
  describe('whatever comes over the wire, the embedded engine', () => {
    const store = useEventStore();
    let session: ClientHttp2Session;
    beforeEach(() => {
      session = connect(`http://127.0.0.1:${store.server.embedded!.port}`);
      session.on('error', () => {});
    });
    afterEach(async () => {
      session.destroy();
      const stream = freshStream();
      await store.client.appendToStream(stream, numbered(1));
      expect(await numbersOf(store.client.readStream(stream))).deep.equal([1]);
    });

    async function call(path: string, body: Buffer, headers: Record<string, string> = {}): Promise<Answer> {
      const request = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        'connection-name': SECRET,
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

    it('refuses methods that it does not have', async () => {
      for (const path of ['/nobody', `${STREAMS}/Nothing`, '/event_store.client.users.Users/Create', '/']) {
        expect((await call(path, frame([NOTHING]))).grpcStatus, path).equal('12');
      }
    });

    it('denies access to calls without the secret, but for what the driver asks before it shows it', async () => {
      const all = frame([message(field(1, field(3, freshStream())))]);
      const methods = ['Streams/Read', 'Streams/Append', 'Streams/BatchAppend', 'Streams/Delete'];
      methods.push('Streams/Tombstone', 'Operations/StartScavenge', 'Operations/StopScavenge');
      for (const name of methods) {
        const path = `/event_store.client.${name.startsWith('S') ? 'streams' : 'operations'}.${name}`;
        for (const shown of ['', 'guess', SECRET.slice(0, -1), `${SECRET}x`, SECRET.toUpperCase()])
          expect((await call(path, all, { 'connection-name': shown })).grpcStatus, `${name}, ${shown}`).equal(
            '7',
          );
      }
      const features = '/event_store.client.server_features.ServerFeatures/GetSupportedMethods';
      const anybody = { 'connection-name': '' };
      expect((await call(features, frame([NOTHING]), anybody)).grpcStatus).equal('0');
      expect((await call(features, frame([Buffer.alloc(2000)]), anybody)).grpcStatus).equal('8');
    });

    it('lets nobody without the secret have many calls open, and closes the first of many connections', async () => {
      const { port } = store.server.embedded!;
      const shown = (secret: string) => ({
        ':method': 'POST',
        ':path': '/event_store.client.gossip.Gossip/Read',
        'content-type': 'application/grpc',
        'connection-name': secret,
      });
      const begin = (secret: string) => {
        for (let calls = 0; calls < 50; calls++) session.request(shown(secret)).on('error', () => {});
      };
      const closed = once(session, 'close');
      begin('');
      await closed;
      session = connect(`http://127.0.0.1:${port}`);
      begin(SECRET);
      await call('/nobody', NOTHING);
      const others = Array.from({ length: 120 }, () => connectTcp(port, '127.0.0.1').resume());
      try {
        await Promise.race(others.slice(0, 10).map((other) => once(other, 'close')));
        expect((await call('/nobody', NOTHING)).grpcStatus).equal('12');
      } finally {
        for (const other of others) other.destroy();
      }
    });

    it('refuses what is no gRPC', async () => {
      const answer = await call(`${STREAMS}/Read`, NOTHING, { 'content-type': 'text/plain' });
      expect(answer.grpcStatus).not.oneOf([undefined, '0']);
    });

    it('refuses requests without a message, and with an incomplete one', async () => {
      const whole = frame([field(1, target(freshStream()))]);
      for (const method of ['Read', 'Delete', 'Tombstone', 'Append']) {
        expect((await call(`${STREAMS}/${method}`, NOTHING)).grpcStatus, method).not.oneOf([undefined, '0']);
        expect((await call(`${STREAMS}/${method}`, whole.subarray(0, -1))).grpcStatus, method).equal('13');
      }
    });

    it('refuses a second message where one is due', async () => {
      const two = frame([field(1, target(freshStream())), field(1, target(freshStream()))]);
      expect((await call(`${STREAMS}/Delete`, two)).grpcStatus).equal('13');
      expect((await call(`${STREAMS}/Read`, two)).grpcStatus).not.oneOf([undefined, '0']);
    });

    it('refuses compressed messages and messages above 16 MiB', async () => {
      const compressed = frame([NOTHING]);
      compressed[0] = 1;
      expect((await call(`${STREAMS}/Read`, compressed)).grpcStatus).equal('12');
      const huge = Buffer.alloc(5);
      huge.writeUInt32BE(17 << 20, 1);
      expect((await call(`${STREAMS}/BatchAppend`, huge)).grpcStatus).equal('8');
    });

    it('refuses to stop a scavenge that is not running, and to start one in a way of its own', async () => {
      const operations = '/event_store.client.operations.Operations';
      const stop = field(1, field(1, randomUUID()));
      expect((await call(`${operations}/StopScavenge`, frame([stop]))).grpcStatus).equal('5');
      for (const options of [
        message(numberField(1, 4)),
        message(numberField(1, 1), numberField(2, 7)),
        NOTHING,
      ]) {
        expect((await call(`${operations}/StartScavenge`, frame([field(1, options)]))).grpcStatus).equal('3');
      }
    });

    it('refuses fields that it does not know rather than to ignore them', async () => {
      const unknown = message(field(1, message(target(freshStream()), numberField(15, 1))));
      expect((await call(`${STREAMS}/Delete`, frame([unknown]))).grpcStatus).equal('3');
    });

    it('answers each malformed event of a batch append once, and goes on with the call', async () => {
      const stream = freshStream();
      const request = session.request({
        ':method': 'POST',
        ':path': `${STREAMS}/BatchAppend`,
        'content-type': 'application/grpc',
        'connection-name': SECRET,
      });
      const answers: Buffer[] = [];
      request.on('data', (chunk: Buffer) => answers.push(chunk));
      const nil = '00000000-0000-0000-0000-000000000000';
      const bad = [
        batchAppend(randomUUID(), stream, [proposed(nil, 'T')], true),
        batchAppend(randomUUID(), stream, [proposed(randomUUID(), '')], true),
        batchAppend(randomUUID(), '', [proposed(randomUUID(), 'T')], true),
        batchAppend(randomUUID(), '$$', [proposed(randomUUID(), 'T')], true),
        batchAppend(randomUUID(), 'x'.repeat(5000), [proposed(randomUUID(), 'T')], true),
        batchAppend(randomUUID(), stream, [proposed(randomUUID(), 'T'.repeat(5000))], true),
        batchAppend(randomUUID(), stream, [message(field(1, uuid(randomUUID())), entry('type', 'T'))], true),
      ];
      request.write(frame([...bad, batchAppend(randomUUID(), stream, [proposed(randomUUID(), 'T')], true)]));
      request.end();
      await once(request, 'close');
      const text = Buffer.concat(answers).toString('latin1');
      expect(text.split('BadRequest').length - 1).equal(2 * bad.length);
      expect(await numbersOf(store.client.readStream(stream))).have.length(1);
    });

    it('answers an append whose last part does not come with Timeout', async () => {
      const request = session.request({
        ':method': 'POST',
        ':path': `${STREAMS}/BatchAppend`,
        'content-type': 'application/grpc',
        'connection-name': SECRET,
      });
      request.write(frame([batchAppend(randomUUID(), freshStream(), [proposed(randomUUID(), 'T')], false)]));
      const [chunk] = await once(request, 'data');
      expect(String(chunk)).contain('Timeout');
      request.close();
    });

    it('answers an append whose deadline has passed with Timeout, and stores nothing', async () => {
      const stream = freshStream();
      const options = message(target(stream), field(6, numberField(1, 1)));
      const late = message(
        field(1, uuid(randomUUID())),
        field(2, options),
        field(3, proposed(randomUUID(), 'T')),
        numberField(4, 1),
      );
      const { body } = await call(`${STREAMS}/BatchAppend`, frame([late]));
      expect(body.toString('latin1')).contain('Timeout');
      const missing = await numbersOf(store.client.readStream(stream)).catch((error) => error);
      expect(missing).have.property('type', 'stream-not-found');
    });

    it('honours the deadline of a call that does not end', async () => {
      const all = message(
        field(2, field(2, NOTHING)),
        field(6, NOTHING),
        field(8, NOTHING),
        field(9, field(2, NOTHING)),
      );
      const answer = await call(`${STREAMS}/Read`, frame([field(1, all)]), { 'grpc-timeout': '100m' });
      expect(answer.grpcStatus).equal('4');
    });

    it('survives any bytes as a message of any method', async function () {
      this.timeout(120_000);
      const methods = ['Read', 'Append', 'BatchAppend', 'Delete', 'Tombstone'].map(
        (name) => `${STREAMS}/${name}`,
      );
      methods.push('/event_store.client.operations.Operations/StopScavenge');
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...methods),
          fc.uint8Array({ maxLength: 64 }),
          async (path, bytes) => {
            const { grpcStatus } = await call(path, frame([Buffer.from(bytes)]), { 'grpc-timeout': '300m' });
            expect(grpcStatus).not.equal(undefined);
          },
        ),
        { numRuns: 300 },
      );
    });

    it('survives messages that are cut or changed anywhere', async function () {
      this.timeout(120_000);
      const whole = batchAppend(randomUUID(), 'fuzz.stream-1', [proposed(randomUUID(), 'T')], true);
      await fc.assert(
        fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), fc.boolean(), async (at, byte, cut) => {
          const changed = Buffer.from(cut ? whole.subarray(0, at) : whole);
          if (!cut) changed[at] = byte;
          const { grpcStatus } = await call(`${STREAMS}/BatchAppend`, frame([changed]), {
            'grpc-timeout': '300m',
          });
          expect(grpcStatus).not.equal(undefined);
        }),
        { numRuns: 300 },
      );
    });

    it('survives bytes that are no HTTP/2 at all', async () => {
      const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      const settings = Buffer.from('000000040000000000', 'hex');
      const garbage = [
        Buffer.from('GET / HTTP/1.1\r\n\r\n'),
        randomBytes(4096),
        Buffer.concat([preface, randomBytes(4096)]),
        Buffer.concat([preface, settings, Buffer.from('ffffff000000000001', 'hex'), randomBytes(1 << 16)]),
        Buffer.concat([preface, settings, randomBytes(9)]),
        preface.subarray(0, 10),
      ];
      for (const bytes of garbage) {
        const socket = connectTcp(store.server.embedded!.port, '127.0.0.1');
        socket.on('error', () => {});
        await once(socket, 'connect');
        const closed = once(socket, 'close');
        await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
        // Served behind it: by then the bytes have come too.
        const path = `${STREAMS}/BatchAppend`;
        expect((await call(path, frame([]), { 'grpc-timeout': '300m' })).grpcStatus).not.equal(undefined);
        socket.destroy();
        await closed;
      }
    });

    it('survives requests that are reset as soon as they are made', async () => {
      const requests = Array.from({ length: 300 }, (_, n) => {
        const path = `${STREAMS}/${['Read', 'BatchAppend', 'Append', 'Nothing'][n % 4]}`;
        const request = session.request({
          ':method': 'POST',
          ':path': path,
          'content-type': 'application/grpc',
          'connection-name': SECRET,
        });
        request.on('error', () => {});
        request.write(
          frame([batchAppend(randomUUID(), 'reset.stream-1', [proposed(randomUUID(), 'T')], true)]),
        );
        request.close(constants.NGHTTP2_CANCEL);
        return once(request, 'close');
      });
      await Promise.all(requests);
    });

    it('says any text in an error that a header cannot hold', async () => {
      const name = `\u{1d11e}\n${randomUUID()}`;
      const answer = await call(`${STREAMS}/Delete`, frame([field(1, target(name))]));
      expect(answer.grpcStatus).equal('9');
      const noUuid = '\u{1d11e}'.repeat(50);
      const odd = batchAppend(`x${noUuid}`, freshStream(), [], true);
      expect((await call(`${STREAMS}/BatchAppend`, frame([odd]))).grpcStatus).equal('3');
    });

    it('survives clients that leave in the middle of everything', async () => {
      for (let round = 0; round < 20; round++) {
        const leaving = connect(`http://127.0.0.1:${store.server.embedded!.port}`);
        leaving.on('error', () => {});
        const request = leaving.request({
          ':method': 'POST',
          ':path': `${STREAMS}/BatchAppend`,
          'content-type': 'application/grpc',
          'connection-name': SECRET,
        });
        request.on('error', () => {});
        for (let n = 0; n < 50; n++) {
          request.write(
            frame([
              batchAppend(randomUUID(), 'leaving.stream-1', [proposed(randomUUID(), 'T')], n % 2 === 0),
            ]),
          );
        }
        await once(leaving, 'connect');
        leaving.destroy();
      }
    });
  });
}
