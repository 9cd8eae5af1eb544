/** The copy of a log in another event store: what streams, subscriptions and later appends see of it. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, silentLogger, startServers } from '@annals/engines/testing/engines.js';
import type { ResolvedEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import { connectEventStore, type FastClient } from '../../../adapters/eventstore/client.js';
import type { Codec } from '../../../adapters/eventstore/codec.js';
import { decodeStoredEvent } from '../../../adapters/eventstore/codec.js';
import { compareLogs, LogDifference } from '../../../adapters/eventstore/compare-logs.js';
import {
  completeMigration,
  copyLog,
  copyRules,
  type LogCopy,
  startMigration,
} from '../../../adapters/eventstore/copy-log.js';
import { ANY, jsonEvent, StreamDeletedError } from '../../../adapters/eventstore/driver.js';
import { createEventLog } from '../../../adapters/eventstore/event-log.js';
import { createPositionLookup } from '../../../adapters/eventstore/log-positions.js';
import { scavenge } from '../../../adapters/eventstore/scavenge.js';
import { createSubscription, readHeadPosition } from '../../../adapters/eventstore/subscription.js';
import type { StoredEvent } from '../../../application/audit/index.js';
import type { Position } from '../../../application/ports/index.js';

const PREFIXES = ['zoo.'];
const ROUNDS = 300;

describe('the copy of a log', function () {
  this.timeout(60_000);
  let [from, to]: Servers[] = [];
  let copy: LogCopy;
  let [source, target]: FastClient[] = [];
  const interrupted = new AbortController();

  const append = (client: FastClient, stream: string, count = 1) =>
    client.appendToStream(
      stream,
      Array.from({ length: count }, (_, n) =>
        jsonEvent({ type: 'zoo.Fed.v1', data: { n, text: 'ä"\u2028' }, metadata: { $correlationId: randomUUID() } }),
      ),
      { expectedRevision: ANY },
    );
  const revisionsIn = async (client: FastClient, stream: string) => {
    const revisions: number[] = [];
    for await (const { event } of client.readStream(stream)) revisions.push(Number(event!.revision));
    return revisions;
  };
  const follow = async (client: FastClient, after: Position | 'start' = 'start') => {
    const all: StoredEvent[] = [];
    const positions = createPositionLookup(client);
    const subscribe = createSubscription(client, decodeStoredEvent, silentLogger, positions);
    let last: Position | undefined;
    for await (const batch of subscribe({
      prefixes: PREFIXES,
      from: after,
      signal: interrupted.signal,
      batchSize: 7,
    })) {
      // What was reported as scanned holds no later event.
      for (const { position } of batch.events) expect(last === undefined || position > last).to.equal(true);
      all.push(...batch.events);
      if (batch.position !== undefined) {
        if (last !== undefined) expect(batch.position > last).to.equal(true);
        last = batch.position;
      }
      if (batch.caughtUp) break;
    }
    return { events: all, last };
  };
  const run = async (signal = interrupted.signal) => {
    await copyLog({ ...copy, signal }, () => {});
    await compareLogs(copy, () => {});
  };

  before(async () => {
    [from, to] = await Promise.all([startServers(), startServers()]);
    [source, target] = [connectEventStore(from!.eventStoreUrl), connectEventStore(to!.eventStoreUrl)];
    copy = { source, target, prefixes: PREFIXES, logger: silentLogger, signal: interrupted.signal };
    await source.setStreamMetadata('zoo.newest', { maxCount: 2 });
    await append(source, 'zoo.newest', 1200);
    await append(source, 'zoo.expired', 3);
    await append(source, 'zoo.truncated', 5);
    for (let round = 0; round < ROUNDS; round++) {
      await append(source, `zoo.each-${round}`, 1 + (round % 3));
      if (round % 50 === 0) await append(source, 'zoo.common');
      if (round % 60 === 0) await source.tombstoneStream(`zoo.each-${round}`, { expectedRevision: ANY });
    }
    await source.setStreamMetadata('zoo.truncated', { truncateBefore: 3 });
    await source.setStreamMetadata('zoo.expired', { maxAge: 1 });
    await eventually(async () => (await revisionsIn(source!, 'zoo.expired')).length === 0);
    await scavenge(from!.eventStoreUrl);
    await source.setStreamMetadata('zoo.expired', { maxAge: 3600 });
    await append(source, 'zoo.expired', 3);
    await startMigration(target, 'the installation');
  });
  after(async () => {
    await Promise.all([source?.dispose(), target?.dispose()]);
    await Promise.all([from?.stop(), to?.stop()]);
  });

  it('is not served before it is complete', async () => {
    const error = await createPositionLookup(target!)().catch((reason) => reason);
    expect(error).to.have.property('name', 'UnfinishedMigrationError');
  });

  it('is equal, also when it was interrupted and is repeated', async () => {
    const aborted = new AbortController();
    const stopped = copyLog({ ...copy, signal: aborted.signal }, () => aborted.abort());
    await stopped.catch(() => {});
    await run();
    await run();
  });

  it('differs when an event is missing', async () => {
    await append(source!, 'zoo.later');
    const error = await compareLogs(copy, () => {}).catch((reason) => reason);
    expect(error).to.be.instanceOf(LogDifference);
    expect(error.message).to.include('it has nothing in place of zoo.Fed.v1 at zoo.later@0');
    await run();
  });

  it('differs when an event has another content', async () => {
    for (const client of [source!, target!]) await append(client, 'aquarium.sharks');
    const error = await compareLogs({ ...copy, prefixes: ['aquarium.'] }, () => {}).catch((reason) => reason);
    expect(error).to.be.instanceOf(LogDifference);
    expect(error.message).to.include('in place of zoo.Fed.v1 at aquarium.sharks@0');
  });

  it('shows the same of each stream, and goes on at the same revision', async () => {
    await copyRules(copy);
    await completeMigration(source!, target!);
    for (const stream of ['zoo.newest', 'zoo.truncated', 'zoo.expired', 'zoo.common', 'zoo.each-1'])
      expect(await revisionsIn(target!, stream), stream).to.deep.equal(await revisionsIn(source!, stream));
    expect(await revisionsIn(target!, 'zoo.newest')).to.deep.equal([1198, 1199]);
    expect(await revisionsIn(target!, 'zoo.truncated')).to.deep.equal([3, 4]);
    expect(await revisionsIn(target!, 'zoo.expired')).to.deep.equal([3, 4, 5]);
    const event = jsonEvent({ type: 'zoo.Fed.v1', data: {} });
    const next = await target!.appendToStream('zoo.newest', event, { expectedRevision: 1199n });
    expect(next.nextExpectedRevision).to.equal(1200n);
    const error = await target!.appendToStream('zoo.each-60', event).catch((reason) => reason);
    expect(error).to.be.instanceOf(StreamDeletedError);
  });

  it('shows no fillers under another rule either, in full pages', async () => {
    const codec = { decode: (resolved: ResolvedEvent) => decodeStoredEvent(resolved) } as unknown as Codec;
    const log = createEventLog(target!, codec, silentLogger);
    await log.retain('zoo.expired', { maxAgeSeconds: 3600 });
    const read = async (options: object) => {
      const events = await log.read('zoo.expired', options);
      return typeof events === 'string' ? events : events.map(({ revision }) => Number(revision));
    };
    expect(await read({ limit: 2 })).to.deep.equal([3, 4]);
    expect(await read({ limit: 4 })).to.deep.equal([3, 4, 5]);
    expect(await read({ limit: 4, backwards: true })).to.deep.equal([5, 4, 3]);
    expect(await read({ from: 1 })).to.deep.equal([3, 4, 5]);
  });

  it('has the positions of the source, and later ones for later events', async () => {
    const originals = (await follow(source!)).events.filter(({ type }) => type !== '$streamDeleted');
    const copies = await follow(target!);
    expect(copies.events.slice(0, -1)).to.deep.equal(originals);
    const head = await readHeadPosition(source!);
    expect(copies.events.at(-1)!.position > head!).to.equal(true);
    expect(copies.last! > head!).to.equal(true);
  });

  it('can be followed from every position', async () => {
    const all = (await follow(target!)).events;
    for (let at = 0; at < all.length; at += 37) {
      const { position } = all[at]!;
      const { events } = await follow(target!, position);
      expect(events.map((event) => event.id)).to.deep.equal(all.slice(at + 1).map((event) => event.id));
    }
  });
});
