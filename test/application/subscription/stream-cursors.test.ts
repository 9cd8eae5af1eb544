/** How far the streams of a fold have been read: kept in parts, and gone on from there. */
import { expect } from 'chai';
import type { EventLog, RecordedEvent } from '../../../application/ports/index.js';
import {
  advance,
  aggregateAt,
  applyCursorPart,
  eventCount,
  eventsSince,
  initialCursors,
  type StreamCursors,
  serialize,
} from '../../../application/subscription/stream-cursors.js';
import { eventAt } from '../../support/memory-ports.js';

const [BOX, SHELF] = ['toys.box-1', 'toys.shelf-1'] as const;
const keyed = (commandId: string) => ({ commandId, fingerprint: 'of the body' });

/** An event of a stream, at ten times its revision, and a shelf's one behind. */
const inStream = (stream: string, revision: number, metadata: RecordedEvent['metadata'] = {}) => ({
  ...eventAt(BigInt(revision + 1) * 10n + (stream === SHELF ? 1n : 0n), 'ToyPut', {}, revision),
  stream,
  metadata,
});
const after = (events: readonly RecordedEvent[]) => events.reduce(advance, initialCursors([BOX, SHELF]));
const plain = (reaches: StreamCursors) =>
  Object.entries(reaches).map(([stream, reached]) => ({
    stream,
    ...reached,
    keyed: new Map([...reached.keyed].sort()),
  }));

describe('how far streams have been read', () => {
  it('counts their events, and knows what a command with a key wrote in them', () => {
    const one = inStream(BOX, 0);
    const events = [one, inStream(BOX, 1, keyed('a')), inStream(SHELF, 0), inStream(BOX, 2, keyed('a'))];
    const reached = after(events);
    expect(eventCount(initialCursors([BOX, SHELF]))).to.equal(0);
    expect(eventCount(reached)).to.equal(4);
    const loaded = aggregateAt('a state', reached[BOX]);
    expect(loaded).to.include({ state: 'a state', revision: 2, position: 30n, deleted: false });
    expect(loaded.keyed).to.deep.equal(new Map([['a', { first: 1, last: 2 }]]));
  });

  it('is what it was once it is read from its parts, however much was done under keys, and none is large', () => {
    for (const count of [0, 1, 1000, 2500]) {
      const commands = Array.from({ length: count }, (_, n) => inStream(BOX, n, keyed(`command ${n}`)));
      const reached = after([...commands, inStream(SHELF, 0, keyed('another'))]);
      const parts = JSON.parse(JSON.stringify([...serialize(reached)])) as Parameters<typeof applyCursorPart>[1][];
      expect(plain(parts.reduce(applyCursorPart, {}))).to.deep.equal(plain(reached));
      for (const part of parts) if ('keyed' in part) expect(part.keyed).to.have.lengthOf.within(1, 1000);
    }
  });
});

describe('what came since streams were read', () => {
  function logOf(...events: readonly RecordedEvent[]): Pick<EventLog, 'read'> {
    return {
      async read(stream, { from = 0 } = {}) {
        const all = events.filter((each) => each.stream === stream);
        return all.length === 0 ? 'missing' : all.filter(({ revision }) => revision >= from);
      },
    };
  }
  const all = [0, 1, 2].flatMap((n) => [inStream(BOX, n), inStream(SHELF, n)]);

  it('is told in the order of the log, whatever stream it is of', async () => {
    expect(await eventsSince(logOf(...all), initialCursors([SHELF, BOX]))).to.deep.equal(all);
    const reached = after(all.slice(0, 3));
    expect(await eventsSince(logOf(...all), reached)).to.deep.equal(all.slice(3));
    expect(await eventsSince(logOf(...all), after(all))).to.deep.equal([]);
  });

  it('is nothing where the streams never were', async () => {
    expect(await eventsSince(logOf(), initialCursors([BOX, SHELF]))).to.deep.equal([]);
    expect(await eventsSince(logOf(all[1]!), initialCursors([BOX, SHELF]))).to.deep.equal([all[1]]);
  });

  it('is not known in a log that has not what was read, or something else in its place', async () => {
    const reached = after(all);
    const another = { ...all.at(-1)!, position: 1000n };
    for (const log of [logOf(), logOf(...all.slice(0, -1)), logOf(...all.slice(0, -1), another)])
      expect(await eventsSince(log, reached)).to.equal(undefined);
    const later = [inStream(BOX, 7), inStream(SHELF, 7)];
    expect(await eventsSince(logOf(...later), reached)).to.equal(undefined);
  });
});
