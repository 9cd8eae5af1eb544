/** Where a node's live feed begins: each service at its own window, and all together where the log ended then. */
import { setImmediate as nextTurn } from 'node:timers/promises';
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

/** A log that grows while it is read, as a store shows it: by pieces, with positions of others, its head at times. */
function logOf(events: RecordedEvent[], { atOnce = 3, late = [] as RecordedEvent[] } = {}) {
  let read = 0;
  const selections: { prefixes: readonly string[]; from: bigint | 'start' }[] = [];
  const follow: Subscribe = async function* ({ from, signal, ...selection }) {
    const prefixes = 'prefixes' in selection ? selection.prefixes : [];
    selections.push({ prefixes, from });
    let at = from === 'start' ? 0n : from;
    let isLate = false;
    while (!signal.aborted) {
      await nextTurn();
      const isMine = ({ stream }: RecordedEvent) => prefixes.some((prefix) => stream.startsWith(prefix));
      const scanned = events.filter(({ position }) => position > at).slice(0, atOnce);
      const found = scanned.filter(isMine);
      read += found.length;
      at = scanned.at(-1)?.position ?? at;
      // Of what is written meanwhile every reader sees some before the end of what was there, and some after.
      const [next] = late;
      if (next && isLate) events.push(late.shift()!);
      isLate = !isLate;
      const batch: Batch = { events: found, position: at, caughtUp: scanned.length < atOnce };
      yield batch;
    }
  };
  return { follow, selections, read: () => read };
}

async function feedOf(options: {
  readonly follow: Subscribe;
  readonly begun: bigint;
  readonly windows: ReadonlyMap<string, WindowStart>;
  readonly until: (told: readonly bigint[]) => boolean;
  readonly saved?: { save(): Promise<void> };
}) {
  const stop = new AbortController();
  const told = new Map<string, bigint[]>(SERVICES.map((service) => [service, []]));
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
            told.get(service)?.push(position);
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
  return { told, last };
}

describe('the beginning of the live feed', () => {
  it('tells each service all that comes after its window begins, once and in order, while the log grows', async () => {
    const places = fc.array(fc.constantFrom(...SERVICES, 'others'), { minLength: 1, maxLength: 40 });
    const back = fc.record({ toys: fc.nat(40), games: fc.nat(40) });
    await fc.assert(
      fc.asyncProperty(places, places, back, fc.integer({ min: 1, max: 5 }), async (old, fresh, from, atOnce) => {
        const events = old.map((service, index) => of(service, BigInt(index + 1)));
        const late = fresh.map((service, index) => of(service, BigInt(old.length + index + 1)));
        const all = [...events, ...late];
        const begun = BigInt(old.length);
        const start = (service: (typeof SERVICES)[number]) => {
          const at = BigInt(Math.min(from[service], old.length));
          return { horizon: at, from: at };
        };
        const windows = new Map(SERVICES.map((service) => [service, start(service)]));
        const wanted = (service: (typeof SERVICES)[number]) =>
          all.flatMap(({ stream, position }) =>
            stream.startsWith(`${service}.`) && position > start(service).from ? [position] : [],
          );
        const count = SERVICES.flatMap(wanted).length;
        const { follow } = logOf(events, { atOnce, late });
        const until = (told: readonly bigint[]) => late.length === 0 && told.length >= count;
        const { told } = await feedOf({ follow, begun, windows, until });
        for (const service of SERVICES) expect(told.get(service)).to.deep.equal(wanted(service));
      }),
      { numRuns: 60 },
    );
  });

  it('reads for a service that was quiet nothing of the others, and for the others nothing of before', async () => {
    const many = Array.from({ length: 2000 }, (_, index) => of('toys', BigInt(index + 2)));
    const { follow, selections, read } = logOf([of('games', 1n), ...many], { atOnce: 500 });
    const begun = 2001n;
    const windows = new Map([
      ['toys', { horizon: 1991n, from: 1991n }],
      ['games', { horizon: 0n, from: 0n }],
    ]);
    const { told, last } = await feedOf({ follow, begun, windows, until: () => true });
    expect([told.get('games'), told.get('toys')?.length]).to.deep.equal([[1n], 10]);
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

  it('reads no window that ends where it begins', async () => {
    const { follow, selections } = logOf([of('toys', 1n)]);
    const windows = new Map(SERVICES.map((service) => [service, { horizon: 1n, from: 1n }]));
    await feedOf({ follow, begun: 1n, windows, until: () => true });
    expect(selections.map(({ from }) => from)).to.deep.equal([1n]);
  });

  it('goes on where a store says that it has come to its head, but not to which position', async () => {
    const follow: Subscribe = async function* ({ from, signal, ...selection }) {
      const prefixes = 'prefixes' in selection ? selection.prefixes : [];
      const events = [of('toys', 1n), of('games', 2n), of('toys', 3n)].filter(
        ({ stream, position }) =>
          prefixes.some((prefix) => stream.startsWith(prefix)) && (from === 'start' || position > from),
      );
      yield { events, caughtUp: true };
      while (!signal.aborted) await nextTurn();
    };
    const windows = new Map(SERVICES.map((service) => [service, { horizon: 0n, from: 0n }]));
    const { told, last } = await feedOf({ follow, begun: 4n, windows, until: () => true });
    expect([told.get('toys'), told.get('games')]).to.deep.equal([[1n, 3n], [2n]]);
    expect(last).to.deep.equal(
      new Map([
        ['toys', 3n],
        ['games', 2n],
      ]),
    );
  });

  it('leaves its windows for the next start once that is possible, though nothing more comes', async () => {
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
