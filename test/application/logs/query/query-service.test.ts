/** Log queries with limits, cancellation and shared answers. */
import { expect } from 'chai';
import type { Grouping } from '../../../../application/logs/query/aggregate.js';
import { createLogQueries, type PageQuery } from '../../../../application/logs/query/query-service.js';
import { createSearcher, type SearcherPorts } from '../../../../application/logs/query/searcher.js';
import type { Block, BlockRef, RecordIndex } from '../../../../application/logs/record-index.js';
import { UnavailableError } from '../../../../application/ports/index.js';
import type { Filter } from '../../../../domain/logs/filter.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { countRounds } from '../../../support/fake-clock.js';
import { upToDate } from '../../../support/memory-ports.js';

/** Queries without a position to wait for. */
function queriesOf({ version, ...ports }: SearcherPorts & { readonly version: () => unknown }) {
  const searcher = createSearcher(ports);
  const queries = createLogQueries({ searcher, budgetMs: ports.budgetMs, version, ...upToDate });
  return {
    page: (query: PageQuery, signal?: AbortSignal) => queries.page({ seen: undefined, signal }, query),
    async aggregate(filter: Filter, grouping: Grouping, limit: number, signal?: AbortSignal) {
      const result = await queries.aggregate({ seen: undefined, signal }, filter, grouping, limit);
      return 'counts' in result ? result.counts : result;
    },
  };
}

describe('a log query', () => {
  let now = NOON;
  let reads = 0;
  let version = 0;
  /** Infinitely many blocks; each takes a second to read and has no match. */
  const endless: RecordIndex = {
    async *blocks() {
      for (let at = NOON; ; at--) {
        yield {
          from: at,
          to: at,
          count: 1,
          size: 1,
          read: async (look) => {
            reads++;
            now += 1000;
            return look({ ...nothing, order: [0] });
          },
        };
      }
    },
    hours: async () => ({ counts: [], withoutEvents: [], withoutLevels: [] }),
    lastReceived: async () => undefined,
  };
  const fail = () => {
    throw new Error('there is no record');
  };
  const nothing = {
    producerId: 'api',
    audit: false,
    instant: () => NOON,
    level: fail,
    id: fail,
    testTexts: () => () => false,
    size: () => 0,
    record: fail,
    entry: fail,
  };
  const queries = queriesOf({
    index: endless,
    clock: { now: () => now },
    budgetMs: 5000,
    version: () => version,
  });
  const filter = { fields: [], words: ['never'] };

  beforeEach(() => {
    reads = 0;
    version++;
  });

  it('fails once if a block cannot be read while the next one is requested', async () => {
    const unreadable: RecordIndex = {
      ...endless,
      async *blocks() {
        for (let at = NOON; ; at--) {
          // The blocks requested before have failed by the time this one is found.
          await new Promise(setImmediate);
          const read = async () => {
            throw new UnavailableError('the rows cannot be read');
          };
          yield { from: at, to: at, count: 1, size: 1, read };
        }
      },
    };
    const service = queriesOf({
      index: unreadable,
      clock: { now: () => now },
      budgetMs: 5000,
      version: () => 0,
    });
    const unhandled: unknown[] = [];
    const listener = (reason: unknown) => unhandled.push(reason);
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', listener);
    try {
      const page = service.page({ filter, order: 'desc', limit: 10 });
      expect(await page.catch((error) => error)).to.be.instanceOf(UnavailableError);
      await new Promise(setImmediate);
    } finally {
      process.off('unhandledRejection', listener);
      for (const other of others) process.on('unhandledRejection', other);
    }
    expect(unhandled).to.deep.equal([]);
  });

  it('times out after its budget', async () => {
    const page = await queries.page({ filter, order: 'desc', limit: 10 });
    expect(page).to.include({ rejected: 'logs/query-timed-out', kind: 'unavailable' });
    const counted = await queries.aggregate(filter, { by: 'level' }, 10);
    expect(counted).to.include({ rejected: 'logs/query-timed-out', kind: 'unavailable' });
  });

  it('is computed once for concurrent equal queries', async () => {
    const ask = () => queries.page({ filter, order: 'desc', limit: 10 });
    await Promise.all([ask(), ask(), ask()]);
    const first = reads;
    await ask();
    expect(reads).to.be.greaterThan(first);
    reads = 0;
    await Promise.all([ask(), ask()]);
    expect(reads).to.be.at.most(first + 16);
  });

  it('is cancelled when its only client disconnects', async () => {
    const disconnected = new AbortController();
    const { index, ended } = blocksUntil((block) => {
      if (block === 3) disconnected.abort();
    });
    const service = queriesOf({ ...common, index });
    const page = await service.page({ filter, order: 'desc', limit: 10 }, disconnected.signal);
    expect(page).to.include({ rejected: 'logs/query-abandoned', kind: 'unavailable' });
    await ended;
    const counting = new AbortController();
    const counts = blocksUntil((block) => {
      if (block === 3) counting.abort();
    });
    const more = queriesOf({ ...common, index: counts.index });
    expect(await more.aggregate(filter, { by: 'level' }, 10, counting.signal)).to.have.property('rejected');
    await counts.ended;
  });

  it('continues for other clients when one of them disconnects', async () => {
    const disconnected = new AbortController();
    const { index, ended } = blocksUntil((block) => {
      if (block === 3) disconnected.abort();
      return block === 40;
    });
    const service = queriesOf({ ...common, index });
    const [abandoned, stayed] = await Promise.all([
      service.aggregate(filter, { by: 'level' }, 10, disconnected.signal),
      service.aggregate(filter, { by: 'level' }, 10, new AbortController().signal),
    ]);
    await ended;
    expect(abandoned).to.include({ rejected: 'logs/query-abandoned', kind: 'unavailable' });
    expect(stayed).to.deep.equal({ buckets: [], total: 0 });
  });

  it('starts again for a client that arrives after others cancelled it', async () => {
    const disconnected = new AbortController();
    let begun = 0;
    const { index } = blocksUntil((block) => {
      if (block === 0) begun++;
      if (begun === 1 && block === 3) disconnected.abort();
      return begun === 2 && block === 5;
    });
    const service = queriesOf({ ...common, index });
    const ask = (signal?: AbortSignal) => service.aggregate(filter, { by: 'level' }, 10, signal);
    expect(await ask(disconnected.signal)).to.have.property('rejected');
    expect(await ask()).to.deep.equal({ buckets: [], total: 0 });
  });

  it('yields to the event loop while it scans one large block', async () => {
    const order = Array.from({ length: 400_000 }, (_, n) => n);
    const index = blockOf({ ...nothing, order, level: () => 'INFO' });
    const service = queriesOf({ ...common, index });
    let ticks = 0;
    let done = false;
    const countTick = () => {
      ticks++;
      if (!done) setImmediate(countTick);
    };
    setImmediate(countTick);
    const narrow = { ...filter, words: [], from: NOON };
    const several = [10, 11, 12].map((limit) => service.aggregate(narrow, { by: 'time', intervalMs: 1000 }, limit));
    const answers = await Promise.all(several);
    done = true;
    expect(answers.map((each) => 'total' in each && each.total)).to.deep.equal([400_000, 400_000, 400_000]);
    expect(ticks).to.be.greaterThan(6);
  });

  it('starts one per round of the event loop, and not at all for disconnected clients', async () => {
    const begun: number[] = [];
    const rounds = countRounds();
    const index: RecordIndex = {
      ...endless,
      async *blocks() {
        begun.push(rounds.now());
        yield* [];
      },
    };
    const service = queriesOf({ ...common, index });
    const disconnected = new AbortController();
    const several = Array.from({ length: 20 }, (_, n) => {
      const signal = n < 10 ? disconnected.signal : new AbortController().signal;
      const narrow = { ...filter, from: NOON - n };
      return n % 2
        ? service.page({ filter: narrow, order: 'desc', limit: 10 }, signal)
        : service.aggregate(narrow, { by: 'level' }, 10, signal);
    });
    expect(begun).to.deep.equal([]);
    disconnected.abort();
    await Promise.all(several);
    rounds.stop();
    expect(begun).to.have.length(10);
    expect(new Set(begun)).to.have.property('size', 10);
  });

  it('is rejected if it counts too many distinct values, and frees their memory', async () => {
    const long = 'x'.repeat(2000);
    const order = Array.from({ length: 40_000 }, (_, n) => n);
    const index = blockOf({ ...nothing, order, level: (n) => `${long}${n}` });
    const service = queriesOf({ ...common, index });
    const byLevel = (to: number) => service.aggregate({ fields: [], words: [], from: NOON, to }, { by: 'level' }, 10);
    expect(await byLevel(NOON)).to.include({ rejected: 'logs/too-many-keys', kind: 'unavailable' });
    order.length = 20_000;
    for (const to of [NOON + 1, NOON + 2, NOON + 3]) expect(await byLevel(to)).to.have.property('total', 20_000);
  });

  it('ends pages at a few MB without losing records', async () => {
    const order = Array.from({ length: 300 }, (_, n) => n);
    const id = (n: number) => n.toString(36).padStart(17, '0');
    const entry = (n: number) => JSON.stringify({ n, text: 'y'.repeat(64_000) });
    const index = blockOf({ ...nothing, order, id, entry, size: () => 64_000 });
    const service = queriesOf({ ...common, index });
    const seen: number[] = [];
    let pages = 0;
    for (let cursor: string | undefined; pages === 0 || cursor; pages++) {
      const query = { filter: { fields: [], words: [] }, order: 'asc' as const, limit: 1000 };
      const answer = await service.page({ ...query, ...(cursor && { cursor }) });
      if (!('json' in answer)) throw new Error(answer.rejected);
      expect(answer.json.length).to.be.lessThan(5 * 1024 * 1024);
      const page = JSON.parse(Buffer.from(answer.json).toString());
      expect(page.hasMore).to.equal(page.nextCursor !== undefined);
      seen.push(...page.entries.map(({ n }: { n: number }) => n));
      cursor = page.nextCursor;
    }
    expect(seen).to.deep.equal(order);
    expect(pages).to.be.greaterThan(3);
  });

  const common = { clock: { now: () => NOON }, budgetMs: 5000, version: () => 0 };

  const counted = {
    hours: async () => ({ counts: [], withoutEvents: [], withoutLevels: [] }),
    lastReceived: async () => undefined,
  };

  const blockOf = (block: Block): RecordIndex => ({
    ...counted,
    async *blocks() {
      const size = 64_000 * block.order.length;
      yield { from: NOON, to: NOON, count: block.order.length, size, read: (look) => look(block) };
    },
  });

  /** Blocks until `isLast` returns true; `ended` resolves when iteration ends. */
  function blocksUntil(isLast: (block: number) => unknown) {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const index: RecordIndex = {
      ...counted,
      async *blocks() {
        try {
          for (let block = 0; ; block++) {
            const last = isLast(block) === true;
            const read: BlockRef['read'] = (look) => look({ ...nothing, order: [0] });
            yield { from: NOON, to: NOON, count: 1, size: 1, read };
            if (last) return;
          }
        } finally {
          end();
        }
      },
    };
    return { index, ended };
  }
});
