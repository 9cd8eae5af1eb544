/** What the embedded engine refuses: what it does not have, is not shown the secret for, or cannot read. */
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

if (!process.env.EVENTSTORE_URL) {
  describe('what it does not take, the embedded engine', () => {
    const { port, call, begin, session, open } = useWire();

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
          expect((await call(path, all, { 'connection-name': shown })).grpcStatus, `${name}, ${shown}`).equal('7');
      }
      const features = '/event_store.client.server_features.ServerFeatures/GetSupportedMethods';
      const anybody = { 'connection-name': '' };
      expect((await call(features, frame([NOTHING]), anybody)).grpcStatus).equal('0');
      expect((await call(features, frame([Buffer.alloc(2000)]), anybody)).grpcStatus).equal('8');
    });

    it('lets nobody without the secret have many calls open, and closes the first of many connections', async () => {
      const beginMany = (secret: string) => {
        for (let calls = 0; calls < 50; calls++)
          begin('/event_store.client.gossip.Gossip/Read', secret).on('error', () => {});
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

    it('closes a connection without the secret that makes call after call, also of calls that it resets', async () => {
      const closed = once(session(), 'close');
      for (let calls = 0; calls < 100 && !session().closed; calls++) {
        const request = begin('/event_store.client.gossip.Gossip/Read', '').on('error', () => {});
        const over = once(request, 'close');
        request.close();
        await over;
      }
      await closed;
    });

    it('closes a connection without the secret that sends bytes for ever', async () => {
      const closed = once(session(), 'close');
      const ping = () => !session().destroyed && session().ping(() => setImmediate(ping));
      for (let pings = 0; pings < 8; pings++) ping();
      await closed;
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
      for (const options of [message(numberField(1, 4)), message(numberField(1, 1), numberField(2, 7)), NOTHING]) {
        expect((await call(`${operations}/StartScavenge`, frame([field(1, options)]))).grpcStatus).equal('3');
      }
    });

    it('refuses fields that it does not know rather than to ignore them', async () => {
      const unknown = message(field(1, message(target(freshStream()), numberField(15, 1))));
      expect((await call(`${STREAMS}/Delete`, frame([unknown]))).grpcStatus).equal('3');
    });

    it('says any text in an error that a header cannot hold', async () => {
      const name = `\u{1d11e}\n${randomUUID()}`;
      const answer = await call(`${STREAMS}/Delete`, frame([field(1, target(name))]));
      expect(answer.grpcStatus).equal('9');
      const noUuid = '\u{1d11e}'.repeat(50);
      const odd = batchAppend(`x${noUuid}`, freshStream(), [], true);
      expect((await call(`${STREAMS}/BatchAppend`, frame([odd]))).grpcStatus).equal('3');
    });
  });
}
