/** Acknowledged writes survive a kill. Only for the embedded engine, which a test may kill. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@annals/engines/testing/condition.js';
import { type EmbeddedServer, embeddedEventStore } from '@annals/engines/testing/eventstore.js';
import {
  collect,
  freshStream,
  numberedEvent,
  numberedEvents,
  numbersOf,
  rejection,
} from '@annals/engines/testing/eventstore-client.js';
import { ANY, BACKWARDS, END, EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { expect } from 'chai';
import { scavenge } from '../../../adapters/eventstore/scavenge.js';

if (!process.env.EVENTSTORE_URL) {
  describe('after a SIGKILL', () => {
    let url: string;
    let embedded: EmbeddedServer;
    let stop: () => Promise<void>;
    before(async () => {
      ({ url, embedded, stop } = await embeddedEventStore(await mkdtemp(join(tmpdir(), 'annals-durability-'))));
    });
    after(() => stop());
    const withClient = async <T>(work: (client: EventStoreDBClient) => Promise<T>): Promise<T> => {
      const client = EventStoreDBClient.connectionString(url);
      try {
        return await work(client);
      } finally {
        await client.dispose();
      }
    };

    it('every append acknowledged to 32 writers is stored once and in order', async function () {
      this.timeout(120_000);
      for (let round = 0; round < 3; round++) {
        const acknowledged = new Map<string, string[]>();
        await withClient(async (client) => {
          let count = 0;
          const writers = Array.from({ length: 32 }, async () => {
            const stream = freshStream('durable');
            const ids: string[] = [];
            acknowledged.set(stream, ids);
            for (let revision: bigint | typeof NO_STREAM = NO_STREAM; ; ) {
              const event = { ...numberedEvent(count), id: randomUUID() };
              try {
                const expectedRevision: bigint | typeof NO_STREAM = revision;
                ({ nextExpectedRevision: revision } = await client.appendToStream(stream, event, {
                  expectedRevision,
                }));
              } catch {
                return;
              }
              ids.push(event.id);
              count++;
            }
          });
          await eventually(() => count > 300);
          await embedded.restart('SIGKILL');
          await Promise.all(writers);
        });
        await withClient(async (client) => {
          for (const [stream, ids] of acknowledged) {
            if (ids.length === 0) continue;
            const stored = (await collect(client.readStream(stream))).map(({ event }) => event!);
            expect(stored.slice(0, ids.length).map(({ id }) => id)).deep.equal(ids);
            expect(stored.length).within(ids.length, ids.length + 1);
            expect(stored.map(({ revision }) => Number(revision))).deep.equal(stored.map((_, index) => index));
          }
          const positions = (await collect(client.readAll())).map(({ event }) => event!.position!.commit);
          expect(positions).deep.equal([...new Set(positions)].sort((a, b) => (a < b ? -1 : 1)));
        });
      }
    });

    it('a retry with its expected revision is recognised; one with ANY is stored again', async () => {
      const [guarded, any] = [freshStream(), freshStream()];
      const events = numberedEvents(0, 2);
      await withClient(async (client) => {
        await client.appendToStream(guarded, events, { expectedRevision: NO_STREAM });
        await client.appendToStream(any, events, { expectedRevision: ANY });
      });
      await embedded.restart('SIGKILL');
      await withClient(async (client) => {
        await client.appendToStream(guarded, events, { expectedRevision: NO_STREAM });
        await client.appendToStream(any, events, { expectedRevision: ANY });
        expect(await numbersOf(client.readStream(guarded))).deep.equal([0, 1]);
        expect(await numbersOf(client.readStream(any))).deep.equal([0, 1, 0, 1]);
      });
    });

    it('metadata, tombstones and positions are kept', async () => {
      const [counted, tombstoned] = [freshStream(), freshStream()];
      const last = await withClient(async (client) => {
        for (const stream of [counted, tombstoned]) await client.appendToStream(stream, numberedEvents(0, 4));
        await client.setStreamMetadata(counted, { maxCount: 2 });
        return client.tombstoneStream(tombstoned);
      });
      await embedded.restart('SIGKILL');
      await withClient(async (client) => {
        expect(await numbersOf(client.readStream(counted))).deep.equal([2, 3]);
        const outcome = await collect(client.readStream(tombstoned)).catch((error) => error);
        expect(outcome).have.property('type', 'stream-deleted');
        const { position } = await client.appendToStream(freshStream(), numberedEvent(0));
        expect(position!.commit > last.position!.commit).equal(true);
      });
    });

    it('a stream emptied by a scavenge continues at its revision', async () => {
      const emptied = freshStream();
      await withClient(async (client) => {
        // Metadata is stored before the events that follow it exist.
        await client.setStreamMetadata(emptied, { truncateBefore: 100 });
        await client.appendToStream(emptied, numberedEvents(0, 3));
      });
      await scavenge(url);
      await embedded.restart('SIGKILL');
      await withClient(async (client) => {
        expect(await numbersOf(client.readStream(emptied))).deep.equal([]);
        const answer = await client.appendToStream(emptied, numberedEvent(3), { expectedRevision: 2n });
        expect(answer.nextExpectedRevision).equal(3n);
      });
    });

    it('an interrupted scavenge is recorded as such', async () => {
      await withClient(async (client) => {
        const stream = freshStream();
        for (let n = 0; n < 20_000; n += 1000) await client.appendToStream(stream, numberedEvents(n, 1000));
      });
      let restarted: Promise<void> | undefined;
      const onProgress = () => {
        restarted ??= embedded.restart('SIGKILL');
      };
      await rejection(scavenge(url, { onProgress }));
      await restarted;
      await withClient(async (client) => {
        const newest = { direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const;
        const [link] = await collect(client.readStream('$scavenges', newest));
        const [revision, details] = Buffer.from(link!.event!.data as Uint8Array)
          .toString()
          .split('@');
        expect(revision).equal('1');
        const [completed] = await collect(client.readStream(details!, newest));
        expect(completed!.event!.data).include({ result: 'Interrupted' });
      });
    });

    it('the longest stream names keep their metadata', async () => {
      // The name of the metadata is longer by $$.
      const stream = freshStream().padEnd(1022, 'x');
      await withClient(async (client) => {
        await client.appendToStream(stream, numberedEvents(0, 3));
        await client.setStreamMetadata(stream, { truncateBefore: 3 });
      });
      await embedded.restart('SIGKILL');
      await withClient(async (client) => {
        await client.appendToStream(stream, numberedEvent(3), { expectedRevision: 2n });
        expect(await numbersOf(client.readStream(stream))).deep.equal([3]);
      });
    });

    it('message-sized events share pages', async () => {
      const padded = Array.from({ length: 100 }, () => jsonEvent({ type: 'Padded', data: { pad: 'x'.repeat(1100) } }));
      const fresh = await embeddedEventStore(await mkdtemp(join(tmpdir(), 'annals-pages-')));
      const client = EventStoreDBClient.connectionString(fresh.url);
      try {
        const appends = Array.from({ length: 20 }, () => client.appendToStream(freshStream(), padded));
        const ends = (await Promise.all(appends)).map(({ position }) => Number(position!.commit));
        const { size } = await stat(join(fresh.embedded.directory, 'log', 'data.mdb'));
        // Positions grow by record size; the file may be half as large again, including indexes.
        expect(size).below(Math.max(...ends) * 1.5);
      } finally {
        await client.dispose();
        await fresh.stop();
      }
    });

    it('the same client object works again', async () => {
      await withClient(async (client) => {
        const stream = freshStream();
        await client.appendToStream(stream, numberedEvent(0));
        await embedded.restart('SIGKILL');
        await eventually(async () => {
          const answer = await client
            .appendToStream(stream, numberedEvent(1), { expectedRevision: 0n })
            .catch(() => undefined);
          return answer?.success === true;
        });
        expect(await numbersOf(client.readStream(stream))).deep.equal([0, 1]);
      });
    });
  });
}
