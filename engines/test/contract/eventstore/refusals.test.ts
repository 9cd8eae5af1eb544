/** Tests requests that the embedded event store refuses: unsupported, unauthenticated or malformed ones. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { expect } from 'chai';
import { frame } from '../../../eventstore/wire/framing.js';
import { field, message, numberField } from '../../../eventstore/wire/protobuf.js';
import { eventually } from '../../support/condition.js';
import { SECRET } from '../../support/eventstore.js';
import { freshStream } from '../../support/eventstore-client.js';
import { batchAppend, NOTHING, STREAMS, target, useWire } from '../../support/eventstore-wire.js';

const FEATURES = '/event_store.client.server_features.ServerFeatures/GetSupportedMethods';

if (!process.env.EVENTSTORE_URL) {
  describe('invalid requests to the embedded engine', () => {
    const { port, call, begin, session, open } = useWire();

    it('with an unknown method are refused', async () => {
      for (const path of ['/nobody', `${STREAMS}/Nothing`, '/event_store.client.users.Users/Create', '/']) {
        expect((await call(path, frame([NOTHING]))).grpcStatus, path).equal('12');
      }
    });

    it('without the secret are denied, except the calls that drivers make before presenting it', async () => {
      const all = frame([message(field(1, field(3, freshStream())))]);
      const methods = ['Streams/Read', 'Streams/BatchAppend', 'Streams/Tombstone', 'Operations/StartScavenge'];
      for (const name of methods) {
        const path = `/event_store.client.${name.startsWith('S') ? 'streams' : 'operations'}.${name}`;
        for (const presented of ['', 'guess', SECRET.slice(0, -1), `${SECRET}x`, SECRET.toUpperCase()])
          expect((await call(path, all, { 'connection-name': presented })).grpcStatus, `${name}, ${presented}`).equal(
            '7',
          );
      }
      const anybody = { 'connection-name': '' };
      expect((await call(FEATURES, frame([NOTHING]), anybody)).grpcStatus).equal('0');
      expect((await call(FEATURES, frame([Buffer.alloc(2000)]), anybody)).grpcStatus).equal('8');
    });

    it('without the secret are limited per connection, and the oldest of many connections is closed', async () => {
      const beginMany = (secret: string) => {
        for (let calls = 0; calls < 50; calls++) begin(FEATURES, secret).on('error', () => {});
      };
      const closed = once(session(), 'close');
      beginMany('');
      await closed;
      open();
      beginMany(SECRET);
      await call('/nobody', NOTHING);
      const others = Array.from({ length: 120 }, () => connectTcp(port(), '127.0.0.1').resume());
      try {
        await eventually(() => others.filter(({ closed }) => closed).length >= 20);
        expect((await call('/nobody', NOTHING)).grpcStatus).equal('12');
      } finally {
        for (const other of others) other.destroy();
      }
    });

    it('without the secret close their connection when there are too many, even if they are reset', async () => {
      const closed = once(session(), 'close');
      for (let calls = 0; calls < 100 && !session().closed; calls++) {
        const request = begin(FEATURES, '').on('error', () => {});
        const over = once(request, 'close');
        request.close();
        await over;
      }
      await closed;
    });

    it('without the secret close their connection when they are too long', async () => {
      const closed = once(session(), 'close');
      const ping = () => !session().destroyed && session().ping(() => setImmediate(ping));
      for (let pings = 0; pings < 8; pings++) ping();
      await closed;
    });

    it('that are not gRPC are refused', async () => {
      const answer = await call(`${STREAMS}/Read`, NOTHING, { 'content-type': 'text/plain' });
      expect(answer.grpcStatus).not.oneOf([undefined, '0']);
    });

    it('without a message or with an incomplete one are refused', async () => {
      const whole = frame([field(1, target(freshStream()))]);
      for (const method of ['Read', 'Tombstone']) {
        expect((await call(`${STREAMS}/${method}`, NOTHING)).grpcStatus, method).not.oneOf([undefined, '0']);
        expect((await call(`${STREAMS}/${method}`, whole.subarray(0, -1))).grpcStatus, method).equal('13');
      }
    });

    it('with a second message where one is expected are refused', async () => {
      const two = frame([field(1, target(freshStream())), field(1, target(freshStream()))]);
      expect((await call(`${STREAMS}/Tombstone`, two)).grpcStatus).equal('13');
      expect((await call(`${STREAMS}/Read`, two)).grpcStatus).not.oneOf([undefined, '0']);
    });

    it('with compressed messages or messages above 16 MiB are refused', async () => {
      const compressed = frame([NOTHING]);
      compressed[0] = 1;
      expect((await call(`${STREAMS}/Read`, compressed)).grpcStatus).equal('12');
      const huge = Buffer.alloc(5);
      huge.writeUInt32BE(17 << 20, 1);
      expect((await call(`${STREAMS}/BatchAppend`, huge)).grpcStatus).equal('8');
    });

    it('to start a scavenge with options, to stop one, to append by another call, or for gossip are refused', async () => {
      const operations = '/event_store.client.operations.Operations';
      const gossip = '/event_store.client.gossip.Gossip/Read';
      for (const path of [`${operations}/StopScavenge`, `${STREAMS}/Append`, gossip])
        expect((await call(path, frame([NOTHING]))).grpcStatus, path).equal('12');
      for (const options of [message(numberField(1, 4)), message(numberField(1, 1), numberField(2, 7)), NOTHING]) {
        expect((await call(`${operations}/StartScavenge`, frame([field(1, options)]))).grpcStatus).equal('3');
      }
    });

    it('with unknown fields are refused instead of ignored', async () => {
      const unknown = message(field(1, message(target(freshStream()), numberField(15, 1))));
      expect((await call(`${STREAMS}/Tombstone`, frame([unknown]))).grpcStatus).equal('3');
    });

    it('get errors with text that a header cannot hold', async () => {
      const name = `\u{1d11e}\n${randomUUID()}`;
      const tombstone = () => call(`${STREAMS}/Tombstone`, frame([field(1, target(name))]));
      expect((await tombstone()).grpcStatus).equal('0');
      expect((await tombstone()).grpcStatus).equal('9');
      const noUuid = '\u{1d11e}'.repeat(50);
      const odd = batchAppend(`x${noUuid}`, freshStream(), [], true);
      expect((await call(`${STREAMS}/BatchAppend`, frame([odd]))).grpcStatus).equal('3');
    });
  });
}
