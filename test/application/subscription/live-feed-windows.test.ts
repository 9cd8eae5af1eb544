/** Where a live feed starts: each service at its own window, and all services together from the head at that time. */
import { setImmediate as yieldOnce } from 'node:timers/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Batch, RecordedEvent, Subscribe } from '../../../application/ports/index.js';
import type { WindowStart } from '../../../application/subscription/live-feed.js';
import { runLiveFeed } from '../../../application/subscription/live-feed.js';
import type { Catalog } from '../../../domain/shared/decider.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { eventAt } from '../../support/memory-ports.js';

const SERVICES = ['toys', 'games'] as const;
const catalogs: readonly Catalog[] = SERVICES.map((service) => ({
  service,
  events: { ToyPut: { versions: [{ schema: {} }] } },
}));

const of = (service: string, position: bigint): RecordedEvent => ({
  ...eventAt(position),
  stream: `${service}.box-1`,
});

/**
 * A log that grows while it is read: batches of bounded size, positions of other events, and the head from time to
 * time.
 */
function logOf(events: RecordedEvent[], { batchSize = 3, arriving = [] as RecordedEvent[] } = {}) {
  let read = 0;
  const selections: { prefixes: readonly string[]; from: bigint | 'start' }[] = [];
  const follow: Subscribe = async function* ({ from, signal, ...selection }) {
    const prefixes = 'prefixes' in selection ? selection.prefixes : [];
    selections.push({ prefixes, from });
    let at = from === 'start' ? 0n : from;
    let isNextDue = false;
    while (!signal.aborted) {
      await yieldOnce();
      const isSelected = ({ stream }: RecordedEvent) => prefixes.some((prefix) => stream.startsWith(prefix));
      const scanned = events.filter(({ position }) => position > at).slice(0, batchSize);
      const found = scanned.filter(isSelected);
      read += found.length;
      at = scanned.at(-1)?.position ?? at;
      // Events written meanwhile appear partly before and partly after the head that readers have seen.
      const [next] = arriving;
      if (next && isNextDue) events.push(arriving.shift()!);
      isNextDue = !isNextDue;
      const batch: Batch = { events: found, position: at, caughtUp: scanned.length < batchSize };
      yield batch;
    }
  };
  return { follow, selections, read: () => read };
}

async function feedOf(options: {
  readonly follow: Subscribe;
  readonly begun: bigint;
  readonly windows: ReadonlyMap<string, WindowStart>;
  readonly until: (delivered: readonly bigint[]) => boolean;
  readonly saved?: { save(): Promise<void> };
}) {
  const stop = new AbortController();
  const delivered = new Map<string, bigint[]>(SERVICES.map((service) => [service, []]));
  const all: bigint[] = [];
  const feed = runLiveFeed({
    ...memoryKernel(memoryWorld(), catalogs),
    ...options,
    catalogs,
    saved: options.saved ?? { save: async () => {} },
    subscriptions: new Map(
      SERVICES.map((service) => [
        service,
        [
          ({ position }) => {
            delivered.get(service)?.push(position);
            all.push(position);
          },
        ],
      ]),
    ),
    switched: () => {},
    logger: silentLogger,
    signal: stop.signal,
  });
  const last = await feed.ready;
  await eventually(() => options.until(all));
  stop.abort();
  await feed.stopped;
  return { delivered, last };
}

describe('the start of the live feed', () => {
  it('delivers all events after the window of each service, once and in order, while the log grows', async () => {
    const places = fc.array(fc.constantFrom(...SERVICES, 'others'), { minLength: 1, maxLength: 40 });
    const back = fc.record({ toys: fc.nat(40), games: fc.nat(40) });
    await fc.assert(
      fc.asyncProperty(places, places, back, fc.integer({ min: 1, max: 5 }), async (old, fresh, from, batchSize) => {
        const events = old.map((service, index) => of(service, BigInt(index + 1)));
        const arriving = fresh.map((service, index) => of(service, BigInt(old.length + index + 1)));
        const all = [...events, ...arriving];
        const begun = BigInt(old.length);
        const start = (service: (typeof SERVICES)[number]) => {
          const at = BigInt(Math.min(from[service], old.length));
          return { horizon: at, from: at };
        };
        const windows = new Map(SERVICES.map((service) => [service, start(service)]));
        const expected = (service: (typeof SERVICES)[number]) =>
          all.flatMap(({ stream, position }) =>
            stream.startsWith(`${service}.`) && position > start(service).from ? [position] : [],
          );
        const count = SERVICES.flatMap(expected).length;
        const { follow } = logOf(events, { batchSize, arriving });
        const until = (delivered: readonly bigint[]) => arriving.length === 0 && delivered.length >= count;
        const { delivered } = await feedOf({ follow, begun, windows, until });
        for (const service of SERVICES) expect(delivered.get(service)).to.deep.equal(expected(service));
      }),
      { numRuns: 60 },
    );
  });

  it('reads only the own events of a quiet service, and no earlier events of the others', async () => {
    const many = Array.from({ length: 2000 }, (_, index) => of('toys', BigInt(index + 2)));
    const { follow, selections, read } = logOf([of('games', 1n), ...many], { batchSize: 500 });
    const begun = 2001n;
    const windows = new Map([
      ['toys', { horizon: 1991n, from: 1991n }],
      ['games', { horizon: 0n, from: 0n }],
    ]);
    const { delivered, last } = await feedOf({ follow, begun, windows, until: () => true });
    expect([delivered.get('games'), delivered.get('toys')?.length]).to.deep.equal([[1n], 10]);
    expect(last).to.deep.equal(
      new Map([
        ['toys', 2001n],
        ['games', 1n],
      ]),
    );
    expect(read()).to.equal(11);
    expect(selections).to.deep.equal([
      { prefixes: ['toys.'], from: 1991n },
      { prefixes: ['games.'], from: 'start' },
      { prefixes: ['toys.', 'games.'], from: begun },
    ]);
  });

  it('does not read an empty window', async () => {
    const { follow, selections } = logOf([of('toys', 1n)]);
    const windows = new Map(SERVICES.map((service) => [service, { horizon: 1n, from: 1n }]));
    await feedOf({ follow, begun: 1n, windows, until: () => true });
    expect(selections.map(({ from }) => from)).to.deep.equal([1n]);
  });

  it('continues if the store reports its head without a position', async () => {
    const follow: Subscribe = async function* ({ from, signal, ...selection }) {
      const prefixes = 'prefixes' in selection ? selection.prefixes : [];
      const events = [of('toys', 1n), of('games', 2n), of('toys', 3n)].filter(
        ({ stream, position }) =>
          prefixes.some((prefix) => stream.startsWith(prefix)) && (from === 'start' || position > from),
      );
      yield { events, caughtUp: true };
      while (!signal.aborted) await yieldOnce();
    };
    const windows = new Map(SERVICES.map((service) => [service, { horizon: 0n, from: 0n }]));
    const { delivered, last } = await feedOf({ follow, begun: 4n, windows, until: () => true });
    expect([delivered.get('toys'), delivered.get('games')]).to.deep.equal([[1n, 3n], [2n]]);
    expect(last).to.deep.equal(
      new Map([
        ['toys', 3n],
        ['games', 2n],
      ]),
    );
  });

  it('saves its windows after a failed attempt, even without further events', async () => {
    let saves = 0;
    const save = async () => {
      if (++saves === 1) throw new Error('away');
    };
    const { follow } = logOf([of('toys', 1n)]);
    const windows = new Map(SERVICES.map((service) => [service, { horizon: 0n, from: 0n }]));
    await feedOf({ follow, begun: 1n, windows, saved: { save }, until: () => saves === 2 });
    expect(saves).to.equal(2);
  });
});
