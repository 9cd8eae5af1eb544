/** Queries that must give up, answers that are shared, and how the index is judged. */
import { expect } from 'chai';
import { createIndexHealth } from '../../../application/logs/health.js';
import { createLogQueries } from '../../../application/logs/queries.js';
import type { RecordIndex } from '../../../application/logs/record-index.js';
import type { Position, Settled } from '../../../application/ports.js';
import { NOON } from '../../domain/logs/arbitrary.js';

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
    record: fail,
    entry: fail,
  };
  const queries = createLogQueries({
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

  it('is given up when it is over its budget', async () => {
    const page = await queries.page({ filter, order: 'desc', limit: 10 });
    expect(page).to.include({ rejected: 'logs/query-timed-out' });
    const counted = await queries.aggregate(filter, { by: 'level' }, 10);
    expect(counted).to.include({ rejected: 'logs/query-timed-out' });
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
});

describe('the index', () => {
  let position: Position = 0n;
  let now = NOON;
  const settled: Settled = {
    wait: async (_, wanted) => position >= wanted,
    latest: () => 0n,
    position: () => position,
  };
  const health = createIndexHealth({ settled, clock: { now: () => now } });

  it('stands still when it does not follow the log for long, and is well again when it does', async () => {
    expect(await health.state()).to.deep.equal({ position: '0', lag: 0, standsStill: false });
    health.note(5n);
    now += 3000;
    expect(await health.state()).to.include({ lag: 3000, standsStill: false });
    health.note(9n);
    now += 8000;
    expect(await health.state()).to.include({ lag: 11_000, standsStill: true });
    position = 9n;
    expect(await health.state()).to.deep.equal({ position: '9', lag: 0, standsStill: false });
    health.note(12n);
    now += 1000;
    expect(await health.state()).to.include({ lag: 1000, standsStill: false });
  });
});
