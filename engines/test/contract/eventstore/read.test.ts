/** Tests reading streams and $all in both directions, including their boundaries. */
import { BACKWARDS, END, FORWARDS, START, StreamNotFoundError, UnknownError } from '@eventstore/db-client';
import { expect } from 'chai';
import {
  collect,
  freshStream,
  numberedEvents,
  numbersOf,
  rejection,
  useEventStore,
} from '../../support/eventstore-client.js';

describe('reading a stream', () => {
  const store = useEventStore();
  const stream = freshStream();
  before(() => store.client.appendToStream(stream, numberedEvents(0, 10)));
  const forwards = (fromRevision: bigint | typeof START | typeof END, maxCount?: number) =>
    numbersOf(store.client.readStream(stream, { fromRevision, ...(maxCount === undefined ? {} : { maxCount }) }));
  const backwards = (fromRevision: bigint | typeof START | typeof END, maxCount?: number) =>
    numbersOf(
      store.client.readStream(stream, {
        direction: BACKWARDS,
        fromRevision,
        ...(maxCount === undefined ? {} : { maxCount }),
      }),
    );

  it('goes forwards from the start or any revision', async () => {
    expect(await forwards(START)).deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await forwards(7n)).deep.equal([7, 8, 9]);
    expect(await forwards(7n, 2)).deep.equal([7, 8]);
  });

  it('goes backwards from the end or any revision', async () => {
    expect(await backwards(END, 3)).deep.equal([9, 8, 7]);
    expect(await backwards(2n)).deep.equal([2, 1, 0]);
  });

  it('is empty forwards from beyond the end', async () => {
    expect(await forwards(10n)).deep.equal([]);
    expect(await forwards(2n ** 63n - 1n)).deep.equal([]);
  });

  it('is refused from a revision that 63 bits cannot hold', async () => {
    for (const revision of [2n ** 63n, 2n ** 64n - 2n]) expect(await rejection(forwards(revision))).property('code', 2);
  });

  it('starts at the last event backwards from beyond the end', async () => {
    expect(await backwards(500n, 2)).deep.equal([9, 8]);
  });

  it('returns the first event backwards from START', async () => {
    expect(await backwards(START)).deep.equal([0]);
  });

  it('is refused forwards from END, and with a count of 0', async () => {
    expect(await rejection(forwards(END))).instanceOf(Error);
    expect(await rejection(forwards(START, 0))).instanceOf(Error);
  });

  it('reports a missing stream as not found, in both directions', async () => {
    for (const direction of [FORWARDS, BACKWARDS] as const) {
      const missing = freshStream();
      const error = await rejection(
        collect(
          store.client.readStream(missing, {
            direction,
            fromRevision: direction === BACKWARDS ? END : START,
          }),
        ),
      );
      expect(error).instanceOf(StreamNotFoundError);
      expect((error as StreamNotFoundError).streamName).equal(missing);
    }
  });

  it('is refused without a name', async () => {
    expect(await rejection(collect(store.client.readStream('')))).instanceOf(Error);
  });

  it('reads pages of any length', async () => {
    const long = freshStream();
    for (let n = 0; n < 1500; n += 300) await store.client.appendToStream(long, numberedEvents(n, 300));
    const expected = Array.from({ length: 1500 }, (_, n) => n);
    expect(await numbersOf(store.client.readStream(long))).deep.equal(expected);
    expect(await numbersOf(store.client.readStream(long, { direction: BACKWARDS, fromRevision: END }))).deep.equal(
      expected.reverse(),
    );
  });

  it('sees acknowledged events immediately', async () => {
    const fresh = freshStream();
    for (let n = 0; n < 50; n++) {
      await store.client.appendToStream(fresh, numberedEvents(n, 1));
      expect(
        await numbersOf(store.client.readStream(fresh, { direction: BACKWARDS, fromRevision: END, maxCount: 1 })),
      ).deep.equal([n]);
    }
  });
});

describe('reading $all', () => {
  const store = useEventStore();
  const stream = freshStream();
  let positions: { commit: bigint; prepare: bigint }[];
  before(async () => {
    await store.client.appendToStream(stream, numberedEvents(0, 5));
    positions = (await collect(store.client.readStream(stream))).map(({ event }) => event!.position!);
  });

  it('holds a system event from the start', async () => {
    const [first] = await collect(store.client.readAll({ maxCount: 1 }));
    expect(first!.event!.type).match(/^\$/);
  });

  it('includes the event at the position forwards', async () => {
    const events = await collect(store.client.readAll({ fromPosition: positions[2]!, maxCount: 2 }));
    expect(events.map(({ event }) => event!.position)).deep.equal([positions[2], positions[3]]);
  });

  it('excludes the event at the position backwards', async () => {
    const events = await collect(
      store.client.readAll({ direction: BACKWARDS, fromPosition: positions[2]!, maxCount: 2 }),
    );
    expect(events.map(({ event }) => event!.position)).deep.equal([positions[1], positions[0]]);
  });

  it('is empty forwards from END and backwards from START', async () => {
    expect(await collect(store.client.readAll({ fromPosition: END }))).deep.equal([]);
    expect(await collect(store.client.readAll({ direction: BACKWARDS, fromPosition: START }))).deep.equal([]);
  });

  it('refuses a position that is no event’s', async () => {
    const { commit } = positions[2]!;
    const between = { commit: commit + 1n, prepare: commit + 1n };
    const error = await rejection(collect(store.client.readAll({ fromPosition: between })));
    expect(error).instanceOf(UnknownError).with.property('code', 2);
  });

  it('refuses a prepare position above the commit position', async () => {
    const { commit } = positions[2]!;
    expect(
      await rejection(collect(store.client.readAll({ fromPosition: { commit, prepare: commit + 1n } }))),
    ).instanceOf(Error);
  });

  it('is empty forwards from beyond the end, and refused backwards', async () => {
    const beyond = { commit: 2n ** 50n, prepare: 2n ** 50n };
    expect(await collect(store.client.readAll({ fromPosition: beyond }))).deep.equal([]);
    expect(await rejection(collect(store.client.readAll({ direction: BACKWARDS, fromPosition: beyond })))).instanceOf(
      Error,
    );
  });

  it('returns the same events backwards as forwards', async () => {
    const [first] = positions as [{ commit: bigint; prepare: bigint }];
    const forwards = await collect(store.client.readAll({ fromPosition: first }));
    const backwards = await collect(
      store.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: forwards.length }),
    );
    expect(backwards.reverse().map(({ event }) => event!.id)).deep.equal(forwards.map(({ event }) => event!.id));
  });
});
