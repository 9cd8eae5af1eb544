/** Scavenges remove unreadable events from $all and from disk. */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { eventually } from '@annals/engines/testing/condition.js';
import {
  collect,
  freshStream,
  numberedEvent,
  numberedEvents,
  numbersOf,
  rejection,
  take,
  useEventStore,
  useOwnEventStore,
} from '@annals/engines/testing/eventstore-client.js';
import { END, jsonEvent, NO_STREAM, streamNameFilter, WrongExpectedVersionError } from '@eventstore/db-client';
import { expect } from 'chai';
import { scavenge } from '../../../adapters/eventstore/scavenge.js';

describe('a scavenge', () => {
  const store = useEventStore();

  it('reports its work and records it', async () => {
    const steps: string[] = [];
    const outcome = await scavenge(store.server.url, { onProgress: (step) => steps.push(step) });
    expect(outcome.result).equal('Success');
    expect(outcome.durationMs).above(0);
    expect(steps[0]).equal('$scavengeStarted');
    expect(steps.at(-1)).equal('$scavengeCompleted');
    const history = await collect(store.client.readStream(`$scavenges-${outcome.scavengeId}`));
    expect(history.at(-1)!.event!.data).include({ scavengeId: outcome.scavengeId, result: 'Success' });
  });

  it('keeps everything that may still be read', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvents(0, 10));
    await store.client.setStreamMetadata(stream, { maxCount: 3 });
    await scavenge(store.server.url);
    expect(await numbersOf(store.client.readStream(stream))).deep.equal([7, 8, 9]);
    const answer = await store.client.appendToStream(stream, numberedEvent(10), { expectedRevision: 9n });
    expect(answer.nextExpectedRevision).equal(10n);
  });
});

if (!process.env.EVENTSTORE_URL) {
  describe('a scavenge of the embedded engine', () => {
    const store = useOwnEventStore();
    const everything = async (stream: string) =>
      (await collect(store.client.readAll())).filter(({ event }) => event!.streamId === stream);
    const secretEvents = (secret: string, count: number) =>
      Array.from({ length: count }, (_, n) =>
        jsonEvent({ type: 'Secret', data: { n, secret: `${secret} `.repeat(n % 5 === 0 ? 200 : 4) } }),
      );

    it('removes tombstoned, truncated, over-count and expired events from $all', async () => {
      const streams = Array.from({ length: 4 }, () => freshStream());
      const [tombstoned, truncated, counted, aged] = streams as [string, string, string, string];
      for (const stream of streams) await store.client.appendToStream(stream, numberedEvents(0, 4));
      await store.client.tombstoneStream(tombstoned);
      await store.client.setStreamMetadata(truncated, { truncateBefore: 3 });
      await store.client.setStreamMetadata(counted, { maxCount: 1 });
      await store.client.setStreamMetadata(aged, { maxAge: 1 });
      await eventually(async () => (await numbersOf(store.client.readStream(aged))).length === 0);
      await scavenge(store.server.url);
      expect((await everything(tombstoned)).map(({ event }) => event!.type)).deep.equal(['$streamDeleted']);
      expect(await everything(truncated)).have.length(1);
      expect(await everything(counted)).have.length(1);
      expect(await everything(aged)).have.length(0);
      expect(await numbersOf(store.client.readStream(aged))).deep.equal([]);
    });

    it('keeps streams readable when later metadata makes more visible, across restarts too', async () => {
      const hiding = [{ maxCount: 3 }, { truncateBefore: 7 }, { maxAge: 1 }];
      const streams = hiding.map((metadata) => ({ metadata, stream: freshStream() }));
      for (const { stream, metadata } of streams) {
        await store.client.appendToStream(stream, numberedEvents(0, 10));
        await store.client.setStreamMetadata(stream, metadata);
        await eventually(async () => (await numbersOf(store.client.readStream(stream))).length <= 3);
      }
      await scavenge(store.server.url);
      for (const { stream } of streams) {
        await store.client.setStreamMetadata(stream, {});
        await store.client.appendToStream(stream, numberedEvent(10), { expectedRevision: 9n });
      }
      const read = () => Promise.all(streams.map(({ stream }) => numbersOf(store.client.readStream(stream))));
      const left = [[7, 8, 9, 10], [7, 8, 9, 10], [10]];
      expect(await read()).deep.equal(left);
      await store.server.embedded!.restart('SIGKILL');
      expect(await read()).deep.equal(left);
    });

    it('remembers the last revision of an emptied stream, across restarts too', async () => {
      const [aged, cut] = [freshStream(), freshStream()];
      // The first expires by age, the second by $tb; both set before any event.
      await store.client.setStreamMetadata(aged, { maxAge: 1 });
      await store.client.setStreamMetadata(cut, { truncateBefore: 4 });
      for (const stream of [aged, cut]) await store.client.appendToStream(stream, numberedEvents(0, 4));
      await eventually(async () => (await numbersOf(store.client.readStream(aged))).length === 0);
      await scavenge(store.server.url);
      await store.server.embedded!.restart('SIGKILL');
      for (const stream of [aged, cut]) {
        expect(await everything(stream)).have.length(0);
        const wrong = store.client.appendToStream(stream, numberedEvent(4), { expectedRevision: NO_STREAM });
        expect(await rejection(wrong)).instanceOf(WrongExpectedVersionError);
        const { nextExpectedRevision } = await store.client.appendToStream(stream, numberedEvent(4), {
          expectedRevision: 3n,
        });
        expect(nextExpectedRevision).equal(4n);
      }
    });

    it('leaves none of their bytes on disk', async () => {
      const secret = `secret-${randomUUID()}`;
      const streams = Array.from({ length: 5 }, () => freshStream());
      for (const stream of streams) {
        for (let round = 0; round < 4; round++) await store.client.appendToStream(stream, secretEvents(secret, 25));
        await store.client.appendToStream(freshStream(), numberedEvents(0, 10));
      }
      const file = `${store.server.embedded!.directory}/log/data.mdb`;
      expect(await occurrences(file, secret)).above(500);
      for (const stream of streams) await store.client.tombstoneStream(stream);
      const { spaceSaved } = await scavenge(store.server.url);
      expect(spaceSaved).above(100_000);
      expect(await occurrences(file, secret)).equal(0);
    });

    it('keeps checkpoints and positions of removed events usable', async () => {
      const stream = freshStream('gone');
      await store.client.appendToStream(stream, numberedEvents(0, 3));
      const [, second] = await collect(store.client.readStream(stream));
      await store.client.tombstoneStream(stream);
      const remaining = freshStream('kept');
      await store.client.appendToStream(remaining, numberedEvent(7));
      await scavenge(store.server.url);
      const filter = streamNameFilter({ prefixes: ['kept.'] });
      const fromPosition = second!.event!.position!;
      const [next] = await take(store.client.subscribeToAll({ fromPosition, filter }), 1);
      expect(next!.event!.streamId).equal(remaining);
    });

    it('shows removed events to no later subscriber, however recent they are', async () => {
      const { position } = await store.client.appendToStream(freshStream(), numberedEvent(0));
      const [gone, remaining] = [freshStream('new'), freshStream('new')];
      await store.client.appendToStream(gone, numberedEvent(1));
      await store.client.setStreamMetadata(gone, { truncateBefore: 1 });
      await store.client.appendToStream(remaining, numberedEvent(2));
      await scavenge(store.server.url);
      const filter = streamNameFilter({ prefixes: ['new.'] });
      const [next] = await take(store.client.subscribeToAll({ fromPosition: position!, filter }), 1);
      expect(next!.event!.streamId).equal(remaining);
    });

    it('blocks neither appends nor subscribers', async () => {
      const stream = freshStream();
      for (let n = 0; n < 5000; n += 500) await store.client.appendToStream(stream, numberedEvents(n, 500));
      await store.client.setStreamMetadata(stream, { maxCount: 1 });
      const live = freshStream('live');
      const filter = streamNameFilter({ prefixes: [live] });
      const seen = take(store.client.subscribeToAll({ fromPosition: END, filter }), 50);
      const running = scavenge(store.server.url);
      for (let n = 0; n < 50; n++) await store.client.appendToStream(live, numberedEvent(n));
      expect(await seen).have.length(50);
      expect((await running).result).equal('Success');
    });

    it('joins a running scavenge', async () => {
      const outcomes = await Promise.all([scavenge(store.server.url), scavenge(store.server.url)]);
      expect(outcomes.map(({ result }) => result)).deep.equal(['Success', 'Success']);
    });

    it('fails alone when its history stream was tombstoned', async () => {
      await store.client.tombstoneStream('$scavenges');
      expect(await rejection(scavenge(store.server.url))).instanceOf(Error);
      await store.server.embedded!.restart('SIGTERM');
      const stream = freshStream();
      await store.client.appendToStream(stream, numberedEvent(0));
      expect(await numbersOf(store.client.readStream(stream))).deep.equal([0]);
    });
  });
}

/** Counts occurrences of a text in a file. */
async function occurrences(file: string, text: string): Promise<number> {
  let count = 0;
  let tail = '';
  for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: 1 << 20 })) {
    const piece = tail + chunk;
    count += piece.split(text).length - 1;
    tail = piece.slice(-(text.length - 1));
  }
  return count;
}
