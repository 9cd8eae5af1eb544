/** Tests input that no driver sends: it gets one answer, and the engine keeps working. */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { frame } from '../../../eventstore/wire/framing.js';
import { field, message, numberField } from '../../../eventstore/wire/protobuf.js';
import { freshStream, numbersOf } from '../../support/eventstore-client.js';
import {
  batchAppend,
  entry,
  headersOf,
  NOTHING,
  proposed,
  STREAMS,
  target,
  useWire,
  uuid,
} from '../../support/eventstore-wire.js';

if (!process.env.EVENTSTORE_URL) {
  describe('on any input, the embedded engine', () => {
    const { store, port, call, begin } = useWire();

    it('answers each malformed event of a batch append once and continues the call', async () => {
      const stream = freshStream();
      const request = begin(`${STREAMS}/BatchAppend`);
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

    it('refuses an append in several messages', async () => {
      const part = batchAppend(randomUUID(), freshStream(), [proposed(randomUUID(), 'T')], false);
      expect((await call(`${STREAMS}/BatchAppend`, frame([part]))).grpcStatus).equal('12');
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
      const methods = ['Read', 'BatchAppend', 'Tombstone'].map((name) => `${STREAMS}/${name}`);
      methods.push('/event_store.client.operations.Operations/StartScavenge');
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...methods), fc.uint8Array({ maxLength: 64 }), async (path, bytes) => {
          const { grpcStatus } = await call(path, frame([Buffer.from(bytes)]), { 'grpc-timeout': '300m' });
          expect(grpcStatus).not.equal(undefined);
        }),
        { numRuns: 300 },
      );
    });

    it('survives truncated and altered messages', async function () {
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
        const socket = connectTcp(port(), '127.0.0.1');
        socket.on('error', () => {});
        await once(socket, 'connect');
        const closed = once(socket, 'close');
        await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
        // A later call is answered: by then the bytes have arrived, too.
        const path = `${STREAMS}/BatchAppend`;
        expect((await call(path, frame([]), { 'grpc-timeout': '300m' })).grpcStatus).not.equal(undefined);
        socket.destroy();
        await closed;
      }
    });

    it('survives requests that are reset immediately', async () => {
      const requests = Array.from({ length: 300 }, (_, n) => {
        const path = `${STREAMS}/${['Read', 'BatchAppend', 'Nothing'][n % 3]}`;
        const request = begin(path);
        request.on('error', () => {});
        request.write(frame([batchAppend(randomUUID(), 'reset.stream-1', [proposed(randomUUID(), 'T')], true)]));
        request.close(constants.NGHTTP2_CANCEL);
        return once(request, 'close');
      });
      await Promise.all(requests);
    });

    it('survives clients that disconnect at any time', async () => {
      for (let round = 0; round < 20; round++) {
        const aborted = connect(`http://127.0.0.1:${port()}`);
        aborted.on('error', () => {});
        const request = aborted.request(headersOf(`${STREAMS}/BatchAppend`));
        request.on('error', () => {});
        for (let n = 0; n < 50; n++) {
          request.write(
            frame([batchAppend(randomUUID(), 'leaving.stream-1', [proposed(randomUUID(), 'T')], n % 2 === 0)]),
          );
        }
        await once(aborted, 'connect');
        aborted.destroy();
      }
    });
  });
}
