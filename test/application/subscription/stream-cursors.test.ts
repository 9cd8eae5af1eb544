/** Stream cursors: positions of a fold in its streams, serialized in parts and continued from there. */
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
const withKey = (commandId: string) => ({ commandId, fingerprint: 'of the body' });

/** An event at position 10 * (revision + 1), or one position later in the shelf stream. */
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
    commands: new Map([...reached.commands].sort()),
  }));

describe('stream cursors', () => {
  it('count events, and index the events of commands with a key', () => {
    const one = inStream(BOX, 0);
    const events = [one, inStream(BOX, 1, withKey('a')), inStream(SHELF, 0), inStream(BOX, 2, withKey('a'))];
    const reached = after(events);
    expect(eventCount(initialCursors([BOX, SHELF]))).to.equal(0);
    expect(eventCount(reached)).to.equal(4);
    const loaded = aggregateAt('a state', reached[BOX]);
    expect(loaded).to.include({ state: 'a state', revision: 2, position: 30n, deleted: false });
    expect(loaded.commands).to.deep.equal(new Map([['a', { first: 1, last: 2 }]]));
  });

  it('are restored from their serialized parts, which are bounded in size', () => {
    for (const count of [0, 1, 1000, 2500]) {
      const commands = Array.from({ length: count }, (_, n) => inStream(BOX, n, withKey(`command ${n}`)));
      const reached = after([...commands, inStream(SHELF, 0, withKey('another'))]);
      const parts = JSON.parse(JSON.stringify([...serialize(reached)])) as Parameters<typeof applyCursorPart>[1][];
      expect(plain(parts.reduce(applyCursorPart, {}))).to.deep.equal(plain(reached));
      for (const part of parts) if ('commands' in part) expect(part.commands).to.have.lengthOf.within(1, 1000);
    }
  });
});

describe('events since stream cursors', () => {
  function logOf(...events: readonly RecordedEvent[]): Pick<EventLog, 'read'> {
    return {
      async read(stream, { from = 0 } = {}) {
        const all = events.filter((each) => each.stream === stream);
        return all.length === 0 ? 'missing' : all.filter(({ revision }) => revision >= from);
      },
    };
  }
  const all = [0, 1, 2].flatMap((n) => [inStream(BOX, n), inStream(SHELF, n)]);

  it('are returned in log order across streams', async () => {
    expect(await eventsSince(logOf(...all), initialCursors([SHELF, BOX]))).to.deep.equal(all);
    const reached = after(all.slice(0, 3));
    expect(await eventsSince(logOf(...all), reached)).to.deep.equal(all.slice(3));
    expect(await eventsSince(logOf(...all), after(all))).to.deep.equal([]);
  });

  it('are empty if the streams do not exist', async () => {
    expect(await eventsSince(logOf(), initialCursors([BOX, SHELF]))).to.deep.equal([]);
    expect(await eventsSince(logOf(all[1]!), initialCursors([BOX, SHELF]))).to.deep.equal([all[1]]);
  });

  it('are undefined if the log does not contain the last event of a cursor', async () => {
    const reached = after(all);
    const another = { ...all.at(-1)!, position: 1000n };
    for (const log of [logOf(), logOf(...all.slice(0, -1)), logOf(...all.slice(0, -1), another)])
      expect(await eventsSince(log, reached)).to.equal(undefined);
    const later = [inStream(BOX, 7), inStream(SHELF, 7)];
    expect(await eventsSince(logOf(...later), reached)).to.equal(undefined);
  });
});
