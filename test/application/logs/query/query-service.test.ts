/** Queries that must give up, and answers that are shared. */
import { expect } from 'chai';
import { createLogQueries } from '../../../../application/logs/query/query-service.js';
import { createSearcher, type SearcherPorts } from '../../../../application/logs/query/searcher.js';
import type { Block, BlockRef, RecordIndex } from '../../../../application/logs/record-index.js';
import { UnavailableError } from '../../../../application/ports/index.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { countRounds } from '../../../support/fake-clock.js';

const queriesOf = ({ version, ...ports }: SearcherPorts & { readonly version: () => unknown }) =>
  createLogQueries({ searcher: createSearcher(ports), budgetMs: ports.budgetMs, version });

describe('a query of the records', () => {
  let now = NOON;
  let opened = 0;
  let version = 0;
  /** Blocks without end, each of which takes a second to open and has nothing to show. */
  const endless: RecordIndex = {
    async *blocks() {
      for (let at = NOON; ; at--) {
        yield {
          from: at,
          to: at,
          count: 1,
          size: 1,
          read: async (look) => {
            opened++;
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
    line: () => '',
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
    opened = 0;
    version++;
  });

  it('fails alone when a block can not be read while the next is asked for', async () => {
    const lost: RecordIndex = {
      ...endless,
      async *blocks() {
        for (let at = NOON; ; at--) {
          // The blocks asked for before have failed by the time that this one is found.
          await new Promise(setImmediate);
          const read = async () => {
            throw new UnavailableError('the rows can not be read');
          };
          yield { from: at, to: at, count: 1, size: 1, read };
        }
      },
    };
    const asked = queriesOf({
      index: lost,
      clock: { now: () => now },
      budgetMs: 5000,
      version: () => 0,
    });
    const unhandled: unknown[] = [];
    const listener = (reason: unknown) => unhandled.push(reason);
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', listener);
    try {
      const page = asked.page({ filter, order: 'desc', limit: 10 });
      expect(await page.catch((error) => error)).to.be.instanceOf(UnavailableError);
      await new Promise(setImmediate);
    } finally {
      process.off('unhandledRejection', listener);
      for (const other of others) process.on('unhandledRejection', other);
    }
    expect(unhandled).to.deep.equal([]);
  });

  it('is given up when it is over its budget', async () => {
    const page = await queries.page({ filter, order: 'desc', limit: 10 });
    expect(page).to.include({ rejected: 'logs/query-timed-out', kind: 'unavailable' });
    const counted = await queries.aggregate(filter, { by: 'level' }, 10);
    expect(counted).to.include({ rejected: 'logs/query-timed-out', kind: 'unavailable' });
  });

  it('is answered once for all who ask it before something changes', async () => {
    const ask = () => queries.page({ filter, order: 'desc', limit: 10 });
    await Promise.all([ask(), ask(), ask()]);
    const first = opened;
    await ask();
    expect(opened).to.be.greaterThan(first);
    opened = 0;
    await Promise.all([ask(), ask()]);
    expect(opened).to.be.at.most(first + 16);
  });

  it('ends with whoever asked, when nobody else waits for the same', async () => {
    const leaving = new AbortController();
    const { index, ended } = blocksUntil((block) => {
      if (block === 3) leaving.abort();
    });
    const asked = queriesOf({ ...common, index });
    const page = await asked.page({ filter, order: 'desc', limit: 10 }, leaving.signal);
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

  it('goes on for the others when one who asked the same has gone', async () => {
    const leaving = new AbortController();
    const { index, ended } = blocksUntil((block) => {
      if (block === 3) leaving.abort();
      return block === 40;
    });
    const asked = queriesOf({ ...common, index });
    const [gone, stayed] = await Promise.all([
      asked.aggregate(filter, { by: 'level' }, 10, leaving.signal),
      asked.aggregate(filter, { by: 'level' }, 10, new AbortController().signal),
    ]);
    await ended;
    expect(gone).to.include({ rejected: 'logs/query-abandoned', kind: 'unavailable' });
    expect(stayed).to.deep.equal({ buckets: [], total: 0 });
  });

  it('is begun anew for who asks what others have just given up', async () => {
    const leaving = new AbortController();
    let begun = 0;
    const { index } = blocksUntil((block) => {
      if (block === 0) begun++;
      if (begun === 1 && block === 3) leaving.abort();
      return begun === 2 && block === 5;
    });
    const asked = queriesOf({ ...common, index });
    const ask = (signal?: AbortSignal) => asked.aggregate(filter, { by: 'level' }, 10, signal);
    expect(await ask(leaving.signal)).to.have.property('rejected');
    expect(await ask()).to.deep.equal({ buckets: [], total: 0 });
  });

  it('lets others have their turn while it looks through one large block', async () => {
    const order = Array.from({ length: 400_000 }, (_, n) => n);
    const index = blockOf({ ...nothing, order, level: () => 'INFO' });
    const asked = queriesOf({ ...common, index });
    let turns = 0;
    let done = false;
    const turn = () => {
      turns++;
      if (!done) setImmediate(turn);
    };
    setImmediate(turn);
    const narrow = { ...filter, words: [], from: NOON };
    const several = [10, 11, 12].map((limit) => asked.aggregate(narrow, { by: 'time', intervalMs: 1000 }, limit));
    const answers = await Promise.all(several);
    done = true;
    expect(answers.map((each) => 'total' in each && each.total)).to.deep.equal([400_000, 400_000, 400_000]);
    expect(turns).to.be.greaterThan(6);
  });

  it('begins in its turn: one a round of the event loop, and none whose client has gone before', async () => {
    const begun: number[] = [];
    const rounds = countRounds();
    const index: RecordIndex = {
      ...endless,
      async *blocks() {
        begun.push(rounds.now());
        yield* [];
      },
    };
    const asked = queriesOf({ ...common, index });
    const leaving = new AbortController();
    const several = Array.from({ length: 20 }, (_, n) => {
      const signal = n < 10 ? leaving.signal : new AbortController().signal;
      const narrow = { ...filter, from: NOON - n };
      return n % 2
        ? asked.page({ filter: narrow, order: 'desc', limit: 10 }, signal)
        : asked.aggregate(narrow, { by: 'level' }, 10, signal);
    });
    expect(begun).to.deep.equal([]);
    leaving.abort();
    await Promise.all(several);
    rounds.stop();
    expect(begun).to.have.length(10);
    expect(new Set(begun)).to.have.property('size', 10);
  });

  it('is refused when it counts more different values than there is room for, and gives the room back', async () => {
    const long = 'x'.repeat(2000);
    const order = Array.from({ length: 40_000 }, (_, n) => n);
    const index = blockOf({ ...nothing, order, level: (n) => `${long}${n}` });
    const asked = queriesOf({ ...common, index });
    const byLevel = (to: number) => asked.aggregate({ fields: [], words: [], from: NOON, to }, { by: 'level' }, 10);
    expect(await byLevel(NOON)).to.include({ rejected: 'logs/too-many-keys', kind: 'unavailable' });
    order.length = 20_000;
    for (const to of [NOON + 1, NOON + 2, NOON + 3]) expect(await byLevel(to)).to.have.property('total', 20_000);
  });

  it('has pages that end at a few MB, with all the records in the end', async () => {
    const order = Array.from({ length: 300 }, (_, n) => n);
    const id = (n: number) => n.toString(36).padStart(17, '0');
    const entry = (n: number) => JSON.stringify({ n, text: 'y'.repeat(64_000) });
    const index = blockOf({ ...nothing, order, id, entry, size: () => 64_000 });
    const asked = queriesOf({ ...common, index });
    const seen: number[] = [];
    let pages = 0;
    for (let cursor: string | undefined; pages === 0 || cursor; pages++) {
      const query = { filter: { fields: [], words: [] }, order: 'asc' as const, limit: 1000 };
      const answer = await asked.page({ ...query, ...(cursor && { cursor }) });
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

  /** Blocks without end, unless `isLast` says which is the last; `ended` resolves when nobody asks for more. */
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
