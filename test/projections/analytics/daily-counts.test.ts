/** Daily counts: live equals rebuilt under redelivery, and nothing is readable after a site is deleted. */

import { randomUUID } from 'node:crypto';
import { type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { aes256gcm } from '../../../adapters/crypto/cipher.js';
import { connectMongo, type Mongo } from '../../../adapters/mongo/client.js';
import { createBuilds } from '../../../adapters/mongo/rows/row-store.js';
import type { RecordedEvent } from '../../../application/ports/index.js';
import { createVault } from '../../../application/secrets/vault.js';
import { type AnalyticsEvent, type Hit, siteSubject } from '../../../domain/analytics/catalog.js';
import { hitsCollected } from '../../../domain/analytics/hit.js';
import { DAYS, type DayRow, days } from '../../../projections/analytics/daily-counts.js';
import { createDayReader } from '../../../projections/analytics/daily-counts-reader.js';
import { collectionName } from '../../../projections/kernel/projection.js';
import { deliveries, entriesOf, happened } from '../../support/analytics-fixtures.js';

const NOON = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;
const BOTH = { start: '2026-11-22', end: '2026-11-23' };
/** So large that a double cannot distinguish neighbours. */
const FIRST = 9_007_199_254_740_993n;

type Counting = AnalyticsEvent<'HitsCollected' | 'SiteDeleted' | 'DaysExpired'>;

describe('the daily counts of sites', function () {
  this.timeout(60_000);
  let server: MongoServer;
  let mongo: Mongo;
  before(async () => {
    server = await mongoServer();
    mongo = await connectMongo(server.url, `test_${randomUUID().slice(0, 8)}`);
  });
  after(async () => {
    await mongo?.close();
    await server?.stop();
  });

  function useVault() {
    const keys = new Map<string, Buffer | 'destroyed'>();
    const store = {
      async create(subject: string, fresh: Buffer) {
        const key = keys.get(subject) ?? fresh;
        keys.set(subject, key);
        return key === 'destroyed' ? undefined : key;
      },
      renew: () => Promise.reject(new Error('renew is not supported')),
      read: async (subject: string) => keys.get(subject),
      destroy: async (subject: string) => void keys.set(subject, 'destroyed'),
    };
    const vault = createVault(store, aes256gcm);
    const builds = createBuilds(mongo.models, vault);
    const recorded = async (events: readonly Counting[]): Promise<RecordedEvent[]> => {
      const all: RecordedEvent[] = [];
      for (const [index, { type, data }] of events.entries()) {
        if ('instance' in data) await vault.create(siteSubject(data));
        const secret = 'secret' in data ? { secret: (await vault.seal(siteSubject(data), data.secret))! } : {};
        all.push({
          id: `e${index}`,
          type,
          data: { ...data, ...secret },
          stream: 'analytics.traffic',
          revision: index,
          position: FIRST + BigInt(index),
          version: 1,
          recordedAt: 0,
          metadata: {},
        });
      }
      return all;
    };
    const nameOf = (run: string) => collectionName(days, run);
    const open = (run: string) => builds.open(days, nameOf(run), { assertHeld() {} });
    const scan = async (run: string) => {
      const rows: object[] = [];
      for await (const { _at, ...row } of builds.scan(days, nameOf(run))) rows.push({ ...row, at: String(_at) });
      return rows;
    };
    const reader = (run: string) => createDayReader({ db: mongo.models, vault, build: () => nameOf(run) });
    const raw = (run: string) =>
      mongo.models
        .collection<DayRow>(`${nameOf(run)}.${DAYS}`)
        .find()
        .toArray();
    return { vault, recorded, open, scan, reader, raw };
  }

  const hits = (instance: string, more: readonly Hit[], visitors: readonly number[] = [], at = NOON) =>
    hitsCollected(
      { siteId: instance, instance },
      at,
      more,
      visitors.map((each) => String(each).padStart(16, '0')),
    );
  const deleted = (instance: string): Counting => ({
    type: 'SiteDeleted',
    data: { siteId: instance, instance, registeredAt: 0, deletedAt: NOON },
  });

  const expired: Counting = {
    type: 'DaysExpired',
    data: { before: '2026-11-23', since: '', rows: 1, expiredAt: NOON },
  };

  it('are equal under any redelivery and restarts of the projector', () =>
    fc.assert(
      fc.asyncProperty(happened, deliveries, async (acts, ways) => {
        const { recorded, open, scan, reader } = useVault();
        const [live, rebuilt] = [randomUUID().slice(0, 8), randomUUID().slice(0, 8)];
        const events = await recorded(
          acts.map(({ site, day, hits: of, visitors }) => hits(site, of, visitors, NOON + day * DAY_MS)),
        );
        let [apply, at] = [await open(live), 0];
        for (const { back, take, anew } of ways) {
          at = Math.max(0, at - back);
          if (anew) apply = await open(live);
          await apply(events.slice(at, at + take));
          at = Math.min(events.length, at + take);
        }
        await apply(events.slice(at));
        await (await open(rebuilt))(events);
        expect(await scan(live)).to.deep.equal(await scan(rebuilt));
        const { summaries } = await reader(live).read('one', '2026-11-22', BOTH);
        const views = acts
          .filter(({ site }) => site === 'one')
          .flatMap(({ hits: of }) => of)
          .filter(({ event }) => event === undefined);
        const pageviews = [...summaries.values()].reduce((sum, { pageviews }) => sum + pageviews, 0);
        expect(pageviews).to.equal(views.length);
      }),
      { numRuns: 12 },
    ));

  it('are equal for more pages than a list holds, and include a frequent page', async () => {
    const { recorded, open, scan, reader } = useVault();
    const views = (hitOf: (n: number) => Hit) =>
      hits(
        'one',
        Array.from({ length: 1000 }, (_, n) => hitOf(n)),
      );
    const uniquePages = ['/a', '/b', '/c'].map((root) => views((n) => ({ path: `${root}/${n}` })));
    const events = await recorded(
      uniquePages.toSpliced(
        2,
        0,
        views(() => ({ path: '/real' })),
      ),
    );
    // Live: a new process for each batch.
    for (const event of events) await (await open('many-live'))([event]);
    await (await open('many-rebuilt'))(events);
    expect(await scan('many-live')).to.deep.equal(await scan('many-rebuilt'));
    const pages = entriesOf(await reader('many-live').read('one', '2026-11-22', BOTH), '2026-11-22', 'pages')!;
    expect(pages).to.deep.include(['/real', 1000]);
    expect(pages.reduce((sum, [, count]) => sum + Number(count), 0)).to.equal(4000);
  });

  it('are deleted with their site, and do not return when its hits are redelivered', async () => {
    const { vault, recorded, open, raw, reader } = useVault();
    const events = await recorded([hits('one', [{ path: '/a' }]), hits('two', [{ path: '/b' }]), deleted('one')]);
    const apply = await open('gone');
    await apply(events.slice(0, 2));
    expect(await reader('gone').countDays('one')).to.equal(1);
    await vault.destroy(siteSubject({ instance: 'one' }));
    for (let n = 0; n < 2; n++) {
      await apply(events);
      expect((await raw('gone')).map(({ site }) => site)).to.deep.equal(['two']);
    }
    await (await open('gone'))(events);
    expect(await reader('gone').countDays('one')).to.equal(0);
  });

  it('are deleted on expiry, and do not return on redelivery or rebuild', async () => {
    const { recorded, open, raw } = useVault();
    const events = await recorded([
      hits('one', [{ path: '/a' }]),
      hits('one', [{ path: '/b' }], [], NOON + DAY_MS),
      expired,
      hits('one', [{ path: '/c' }], [], NOON + DAY_MS),
    ]);
    const apply = await open('expired');
    for (let n = 0; n < 2; n++) await apply(events);
    await (await open('rebuilt'))(events);
    for (const run of ['expired', 'rebuilt'])
      expect(
        (await raw(run)).map(({ day }) => day),
        run,
      ).to.deep.equal(['2026-11-23']);
  });

  it('restart from zero with a late hit after expiry, also in the process that counted before', async () => {
    const { recorded, open, scan, reader } = useVault();
    const events = await recorded([
      hits('one', [{ path: '/before' }], [1]),
      hits('one', [{ path: '/kept' }], [1], NOON + DAY_MS),
      expired,
      hits('one', [{ path: '/late' }], [2]),
      hits('one', [{ path: '/kept' }], [2], NOON + DAY_MS),
    ]);
    const apply = await open('late');
    for (const event of events) await apply([event]);
    await (await open('late-rebuilt'))(events);
    for (const run of ['late', 'late-rebuilt']) {
      expect(await scan(run), run).to.deep.equal(await scan('late'));
      const read = await reader(run).read('one', '2026-11-22', BOTH);
      expect(entriesOf(read, '2026-11-22', 'pages'), run).to.deep.equal([['/late', 1]]);
      expect(entriesOf(read, '2026-11-23', 'pages'), run).to.deep.equal([['/kept', 2]]);
      expect(read.summaries.get('2026-11-22'), run).to.include({ pageviews: 1, uniques: 1 });
    }
  });

  it('are encrypted in their rows, and unreadable after the key is destroyed', async () => {
    const { vault, recorded, open, raw, reader } = useVault();
    const secret = '/quarantined-xylophones';
    await (await open('sealed'))(await recorded([hits('one', [{ path: secret }], [1])]));
    const range = ['one', '2026-11-22', BOTH] as const;
    const [row] = await raw('sealed');
    expect(Object.keys(row!)).to.have.members(['_id', '_at', 'site', 'day', 'summary', 'counts', 'lists']);
    expect(JSON.stringify(row)).not.to.include('xylophones').and.not.to.include('pageviews');
    const one = reader('sealed');
    expect(entriesOf(await one.read(...range), '2026-11-22', 'pages')).to.deep.equal([[secret, 1]]);
    expect(one.cache.bytes()).to.be.greaterThan(0);
    await vault.destroy(siteSubject({ instance: 'one' }));
    one.forget('one');
    expect(one.cache.bytes()).to.equal(0);
    const { summaries, lists } = await one.read(...range);
    expect([summaries.size, lists.size]).to.deep.equal([0, 0]);
  });

  it('rewrite only the lists that changed', async () => {
    const { recorded, open, raw, reader } = useVault();
    const apply = await open('parts');
    const views = hits('one', [{ path: '/a', browser: 'Firefox', referrer: 'https://news.example' }]);
    const events = await recorded([views, hits('one', [{ path: '/a', event: 'buy' }]), views]);
    const written: { readonly [list: string]: string }[] = [];
    for (const event of events) {
      await apply([event]);
      const [row] = await raw('parts');
      written.push(row!.lists as { readonly [list: string]: string });
    }
    const same = (from: number, list: string) => written[from]?.[list] === written[from + 1]?.[list];
    expect(written.map((lists) => Object.keys(lists).length)).to.deep.equal([8, 9, 9]);
    expect([same(0, 'pages'), same(0, 'referrers'), same(1, 'events')]).to.deep.equal([true, true, true]);
    expect([same(1, 'pages'), same(1, 'browsers')]).to.deep.equal([false, false]);
    const read = await reader('parts').read('one', '2026-11-22', BOTH);
    expect(entriesOf(read, '2026-11-22', 'pages')).to.deep.equal([['/a', 2]]);
    expect(entriesOf(read, '2026-11-22', 'events')).to.deep.equal([['buy', 1]]);
    expect(read.summaries.get('2026-11-22')).to.include({ pageviews: 2, events: 1 });
  });

  it('are read again after a change', async () => {
    const { recorded, open, reader } = useVault();
    const apply = await open('more');
    const events = await recorded([hits('one', [{ path: '/a' }]), hits('one', [{ path: '/a' }])]);
    const one = reader('more');
    for (const [index, event] of events.entries()) {
      await apply([event]);
      const read = await one.read('one', '2026-11-22', BOTH);
      expect(entriesOf(read, '2026-11-22', 'pages')).to.deep.equal([['/a', index + 1]]);
    }
  });

  it('have full lists for the period and summaries for the days before it', async () => {
    const { recorded, open, reader } = useVault();
    const of = (path: string, ago: number) => hits('one', [{ path }], [], NOON + DAY_MS - ago * DAY_MS);
    await (await open('before'))(await recorded([of('/a', 2), of('/b', 1), of('/a', 0)]));
    const one = reader('before');
    for (const start of ['2026-11-23', '2026-11-22', '2026-11-23']) {
      const read = await one.read('one', '2026-11-21', { start, end: '2026-11-23' });
      expect([...read.summaries.keys()], start).to.deep.equal(['2026-11-21', '2026-11-22', '2026-11-23']);
      expect([...read.lists.keys()].sort(), start).to.deep.equal(
        ['2026-11-21', '2026-11-22', '2026-11-23'].filter((day) => day >= start),
      );
      expect(entriesOf(read, '2026-11-23', 'pages')).to.deep.equal([['/a', 1]]);
    }
  });
});
