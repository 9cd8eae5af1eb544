/** Restoring a fold from a snapshot and the events up to its resume window, or from the log alone. */
import { expect } from 'chai';
import type { Batch, RecordedEvent, Subscribe } from '../../../application/ports/index.js';
import { type Fold, restoreFold, type Snapshot } from '../../../application/subscription/fold-snapshots.js';
import { eventAt } from '../../support/memory-ports.js';

const { signal } = new AbortController();
type State = readonly bigint[];

const fold: Fold<State> = {
  initialState: [],
  types: ['ToyPut'],
  evolve: (state, { position }) => [...state, position],
  snapshot: {
    version: 1,
    parts: (state) => state.map(String),
    from: (parts) => parts.map((each) => BigInt(each as string)),
  },
};

/** A log with the given batches; `delivered` counts those read. */
function over(batches: readonly Batch[], found?: Snapshot) {
  const warnings: unknown[][] = [];
  const state = { delivered: 0 };
  const follow: Subscribe = async function* ({ from }) {
    for (const each of batches) {
      state.delivered++;
      yield { ...each, events: each.events.filter(({ position }) => from === 'start' || position > from) };
    }
  };
  const read = (from: bigint, how = fold) =>
    restoreFold(
      'toys',
      how,
      { horizon: 0n, from },
      {
        follow,
        log: { read: async () => 'missing' },
        decryptEvent: async (event: RecordedEvent) => event as never,
        snapshots: { read: async () => found },
        logger: { warn: (...line: unknown[]) => void warnings.push(line) },
        signal,
      },
    );
  return { read, warnings, state };
}

const batch = (events: readonly RecordedEvent[], position?: bigint, caughtUp = false): Batch => ({
  events,
  caughtUp,
  ...(position !== undefined && { position }),
});
const events = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => eventAt(BigInt(first + n)));
const positions = (last: number) => Array.from({ length: last }, (_, n) => BigInt(n + 1));
const message = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: Error) => error.message);

describe('a restored fold', () => {
  it('contains every event up to the window once and in order, over several batches', async () => {
    const { read } = over([batch(events(1, 2500)), batch(events(2501, 2600), 2600n, true)]);
    expect((await read(2550n)).state).to.deep.equal(positions(2550));
  });

  it('ignores other event types', async () => {
    const other = eventAt(2n, 'ToyLost');
    const { read } = over([batch([eventAt(1n), other, eventAt(3n)], 3n, true)]);
    expect((await read(3n)).state).to.deep.equal([1n, 3n]);
  });

  it('reads only up to the window, even if the log continues', async () => {
    for (const from of [14n, 15n, 20n]) {
      const { read, state } = over([batch(events(1, 10), 10n), batch(events(11, 20), 20n), batch(events(21, 30), 30n)]);
      expect((await read(from)).state).to.deep.equal(positions(Number(from)));
      expect(state.delivered).to.equal(2);
    }
  });

  it('fails if reading is aborted', async () => {
    const { read } = over([batch(events(1, 10), 10n)]);
    expect(await message(read(20n))).to.equal('stopped while reading the events of toys');
    const found = { position: 20n, until: 20n, parts: [] };
    const snapshot = over([batch(events(1, 10), 10n)], found);
    expect(await message(snapshot.read(5n))).to.equal('stopped while looking for the last event of toys');
  });

  it('continues from a snapshot and reports its size', async () => {
    const parts = positions(10).map(String);
    const { read } = over([batch(events(1, 20), 20n, true)], { position: 10n, until: 12n, parts });
    const { state, size, ...rest } = await read(15n);
    expect(state, 'the snapshot covers events up to 12').to.deep.equal([...positions(10), 13n, 14n, 15n]);
    expect(size).to.deep.equal({ events: 0, parts: 10 });
    expect(rest).to.deep.equal({ position: 15n, window: { horizon: 0n, from: 15n } });
  });

  it('reports the last event of its service as horizon if the snapshot is ahead of the window', async () => {
    const found = { position: 15n, until: 15n, parts: [] };
    const batches = [batch(events(6, 8), 9n), batch(events(11, 17), 17n), batch(events(18, 20), 20n)];
    const { read, state } = over(batches, found);
    expect(await read(5n)).to.deep.include({ position: 15n, window: { horizon: 15n, from: 15n } });
    expect(state.delivered).to.equal(2);
    const to15 = over([batch(events(6, 15), 15n), batch([])], found);
    expect((await to15.read(5n)).window).to.deep.equal({ horizon: 15n, from: 15n });
    expect(to15.state.delivered).to.equal(1);
    const none = over([batch([], 20n, true)], found);
    expect((await none.read(5n)).window).to.deep.equal({ horizon: 0n, from: 15n });
  });

  it('falls back to the log with a warning if the snapshot is unusable', async () => {
    const found = { position: 10n, until: 10n, parts: ['no number'] };
    const { read, warnings } = over([batch(events(1, 20), 20n, true)], found);
    const { state, size } = await read(15n);
    expect(state).to.deep.equal(positions(15));
    expect(size).to.equal(undefined);
    expect(warnings).to.have.length(1);
    expect(warnings[0]![0]).to.include({ service: 'toys' }).and.to.have.property('err').that.is.instanceOf(Error);
  });
});
