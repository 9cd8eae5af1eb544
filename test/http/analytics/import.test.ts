/** Hits of the past: counted on their days, once however often they are imported, and nothing kept of who came. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createUserAgentParser } from '../../../adapters/outbound/user-agent-parser.js';
import { createDailyVisitorKeys } from '../../../application/analytics/daily-visitor-keys.js';
import { createHitImporter, type HitImporter } from '../../../application/analytics/import-hits.js';
import { createImportBatchStore } from '../../../application/analytics/store-imported-hits.js';
import { chunksOf } from '../../../bin/commands/analytics/chunks.js';
import { asAdmin, FIREFOX, SAFARI, useAnalytics } from '../../support/analytics-node.js';
import { run } from '../../support/command-line.js';

const DAY_MS = 86_400_000;

describe('hits of the past', function () {
  this.timeout(60_000);
  const nodes = useAnalytics();
  const { site, collect, written, given } = nodes;
  const noon = (ago: number) => Math.floor(Date.now() / DAY_MS - ago) * DAY_MS + DAY_MS / 2;
  const dayOf = (ago: number) => new Date(noon(ago)).toISOString().slice(0, 10);

  async function importing(): Promise<HitImporter> {
    const { kernel } = nodes.observer;
    const { systemContext: context } = kernel;
    const origin = { service: 'analytics', release: 'test' };
    const visitorKeys = createDailyVisitorKeys({ ...kernel, context });
    const store = createImportBatchStore({ ...kernel, visitorKeys, origin, retentionDays: 395, context });
    return createHitImporter({
      ...kernel,
      agents: createUserAgentParser(),
      store,
      retentionDays: 395,
      filterBots: false,
    });
  }

  async function take(lines: readonly (object | string)[], source = '') {
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
    const { validate, importChunk } = await importing();
    const why: [line: number, why: string][] = [];
    const all = { stored: 0, known: 0, refused: 0 };
    const bytes = (async function* () {
      yield Buffer.from(text);
    })();
    for await (const chunk of chunksOf(bytes, { judge: validate, onRejected: (...of) => why.push(of) })) {
      const { stored, known, refused } = await importChunk(source, chunk);
      all.stored += stored;
      all.known += known;
      all.refused += refused;
    }
    return { ...all, why };
  }

  async function report(siteId: string, ago = 10) {
    // Another process wrote it.
    const headers = { 'if-position': String(await nodes.observer.kernel.head()) };
    return given('GET', `/api/report?site=${siteId}&days=${ago + 1}`, asAdmin({ headers }));
  }
  const seriesOf = async (siteId: string) => {
    const { series } = await report(siteId);
    return series.filter((day: { pageviews: number; events: number }) => day.pageviews + day.events > 0);
  };

  it('are counted on their days, with what a user agent says, and visitors of a day apart', async () => {
    const id = await site();
    const hit = { site: id, path: '/a?secret=1', userAgent: FIREFOX };
    const done = await take([
      { ...hit, timestamp: noon(3), address: '198.51.100.1' },
      { ...hit, timestamp: noon(3) + 1, address: '198.51.100.1' },
      { ...hit, timestamp: noon(3) + 2, address: '198.51.100.1', userAgent: SAFARI },
      { ...hit, timestamp: new Date(noon(2)).toISOString(), address: '198.51.100.1', event: 'buy' },
      { ...hit, timestamp: noon(2), visitor: 'customer 7', country: 'de' },
      { ...hit, timestamp: noon(2) / 1000, userAgent: SAFARI, visitor: 'customer 7' },
      { ...hit, timestamp: noon(1) },
    ]);
    expect(done).to.deep.equal({ stored: 7, known: 0, refused: 0, why: [] });
    expect(await seriesOf(id)).to.deep.equal([
      { date: dayOf(3), pageviews: 3, events: 0, uniques: 2 },
      { date: dayOf(2), pageviews: 2, events: 1, uniques: 2 },
      { date: dayOf(1), pageviews: 1, events: 0, uniques: 0 },
    ]);
    const { browsers, countries, pages } = await report(id);
    expect(browsers).to.deep.equal([
      { name: 'Firefox', count: 5 },
      { name: 'Safari', count: 2 },
    ]);
    expect(countries).to.deep.equal([{ name: 'DE', count: 1 }]);
    expect(pages).to.deep.equal([{ name: '/a', count: 6 }]);
  });

  it('keep nothing of who came, and find nobody again on another day', async () => {
    const id = await site();
    const of = (ago: number) => ({
      site: id,
      path: '/',
      timestamp: noon(ago),
      address: '198.51.100.77',
      userAgent: FIREFOX,
    });
    await take([of(3), of(2)]);
    const events = await written(id);
    const visitors = events.flatMap(({ data }) => data.secret.visitors);
    expect(new Set(visitors).size).to.equal(2);
    for (const visitor of visitors) expect(visitor).to.match(/^[\da-f]{16}$/);
    expect(JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.to.match(
      /198\.51|Mozilla/,
    );
    // Neither could an address be tried out by what lines are known by.
    const others = [of(3), of(2)].map((line) => ({ ...line, address: '203.0.113.5' }));
    expect(await take(others)).to.include({ stored: 0, known: 2 });
  });

  it('of today are of the same visitors as those who come themselves', async () => {
    const id = await site();
    await collect({ site: id, host: 'example.com' });
    await take([{ site: id, path: '/', timestamp: Date.now() - 1, address: '127.0.0.1', userAgent: FIREFOX }]);
    expect((await report(id)).totals).to.deep.equal({ pageviews: 2, events: 0, uniques: 1 });
  });

  it('are counted once: also when they come again with more of them', async () => {
    const id = await site();
    const lines = Array.from({ length: 1203 }, (_, n) => ({
      site: id,
      path: `/${n % 7}`,
      timestamp: noon(2) + (n >> 1),
    }));
    expect(await take(lines.slice(0, 700))).to.include({ stored: 700, known: 0 });
    expect(await take(lines.slice(0, 700))).to.include({ stored: 0, known: 700 });
    expect(await take(lines)).to.include({ stored: 503, known: 700 });
    expect(await take(lines)).to.include({ stored: 0, known: 1203 });
    expect((await report(id)).totals.pageviews).to.equal(1203);
  });

  it('are counted once: also when some were left out of the file, or their site was made, meanwhile', async () => {
    const [id, late] = [await site(), `late-${Date.now()}`];
    const lines = Array.from({ length: 3000 }, (_, n) => ({
      site: n % 4 === 3 ? late : id,
      path: `/${n % 7}`,
      timestamp: noon(4 - (n % 3)) + n,
    }));
    const first = await take(['{"site":', ...lines]);
    expect(first).to.include({ stored: 2250, known: 0, refused: 0 });
    expect(await take(lines)).to.include({ stored: 0, known: 2250, refused: 0 });
    await given('POST', '/api/sites', asAdmin({ body: { id: late } }));
    expect(await take(lines)).to.include({ stored: 750, known: 2250, refused: 0 });
    expect((await report(id)).totals.pageviews).to.equal(2250);
    const { known, refused } = await take(lines.filter((_, n) => n !== 1200));
    // But for what stands together with it.
    expect(known + refused).to.be.at.least(1999);
  });

  it('are put together by days in whatever order they come', async () => {
    const id = await site();
    const lines = Array.from({ length: 600 }, (_, n) => ({
      site: id,
      path: '/',
      timestamp: noon(1 + ((n * 37) % 60)),
    }));
    expect(await take(lines)).to.include({ stored: 600 });
    expect(await written(id)).to.have.lengthOf(60);
    expect((await report(id, 60)).totals.pageviews).to.equal(600);
  });

  it('are refused where they begin like others and go on differently, unless they are said to be others', async () => {
    const id = await site();
    const lines = ['/a', '/b', '/c'].map((path) => ({ site: id, path, timestamp: noon(2) }));
    const [first, second, third] = lines as [object, object, object];
    const mended = { site: id, path: '/x', timestamp: noon(2) };
    await take(lines);
    for (const other of [
      [first, mended, third],
      [first, mended, second, third],
    ])
      expect(await take(other)).to.include({ stored: 0, known: 0, refused: other.length });
    expect(await take([first, mended], 'another server')).to.include({ stored: 2, refused: 0 });
    expect((await report(id)).totals.pageviews).to.equal(5);
  });

  it('of a site that was made again are not taken for those of the former', async () => {
    const id = await site();
    const lines = [{ site: id, path: '/', timestamp: noon(2) }];
    await take(lines);
    await given('DELETE', `/api/sites/${id}`, asAdmin());
    await given('POST', '/api/sites', asAdmin({ body: { id, domains: ['example.com'] } }));
    expect(await take(lines)).to.include({ stored: 1, known: 0 });
    expect((await report(id)).totals.pageviews).to.equal(1);
  });

  it('are told by their lines where they are not taken, by the command too', async () => {
    const id = await site();
    const lines = [
      { site: id, path: '/', timestamp: noon(1) },
      '{"site":',
      '[]',
      '',
      { site: 'nobodys', path: '/', timestamp: noon(1) },
      { site: id, path: '/', timestamp: Date.now() + DAY_MS },
      { site: id, path: '/', timestamp: noon(400) },
      { site: id, path: '/' },
      { site: id, path: 7, timestamp: noon(1) },
      { site: id, kind: 'event', timestamp: noon(1) },
      { site: id, path: '/', timestamp: 'yesterday' },
      { site: id, path: '/', timestamp: noon(1), userAgent: 'x'.repeat(40_000) },
    ];
    const why = [
      [2, 'it is not valid JSON'],
      [3, 'it is not a JSON object'],
      [5, 'unknown site nobodys'],
      [6, 'the timestamp is in the future'],
      [7, 'the day is beyond the retention period'],
      [8, 'timestamp is required'],
      [9, 'path is invalid'],
      [10, 'event must be a name'],
      [11, 'timestamp must be ISO 8601 or Unix time'],
      [12, 'the line is too long'],
    ];
    const input = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
    const { code, stderr } = await run(['analytics', 'import', ...nodes.storeFlags], input);
    expect(stderr.trim().split('\n')).to.deep.equal([
      ...why.map(([line, of]) => `annals: standard input:${line}: ${of}`),
      'annals: 1 hit imported, 10 lines rejected',
    ]);
    expect(code).to.equal(3);
    expect(await take(lines)).to.deep.equal({ stored: 0, known: 1, refused: 0, why });
  });

  it('are taken of other files where one is damaged, which is told by its name', async () => {
    const id = await site();
    const line = JSON.stringify({ site: id, path: '/', timestamp: noon(1) });
    const folder = temporaryDirectory();
    try {
      const cut = join(folder.path, 'cut.ndjson.gz');
      writeFileSync(cut, gzipSync(line).subarray(0, -10));
      const { code, stderr } = await run(['analytics', 'import', cut, '-', ...nodes.storeFlags], line);
      expect(stderr.trim().split('\n')).to.deep.equal([
        `annals: ${cut} can't be read completely: unexpected end of file`,
        'annals: 1 hit imported',
      ]);
      expect(code).to.equal(1);
    } finally {
      folder.remove();
    }
  });

  it('make a demonstration, once, and anew where it may be replaced', async () => {
    const seed = (...more: readonly string[]) =>
      run(['analytics', 'seed', '--days', '3', '--scale', '0.1', ...more, ...nodes.storeFlags]);
    const first = await seed();
    expect(first).to.include({ code: 0, stderr: '' });
    expect(first.stdout).to.match(/^[\d,]+ hits on 3 days for demo-shop, demo-blog, demo-docs\n$/);
    const told = await report('demo-shop', 2);
    expect(told.totals.pageviews).to.be.above(60);
    expect(told.totals.uniques).to.be.within(20, told.totals.pageviews / 2);
    for (const list of ['pages', 'referrers', 'browsers', 'os', 'devices', 'countries'])
      expect(told[list], list).to.have.lengthOf.at.least(3);
    const again = await seed();
    expect(again.code).to.equal(1);
    expect(again.stderr).to.equal(
      'annals: demo-shop, demo-blog, demo-docs exist already; --replace deletes them, with all data\n',
    );
    const anew = await seed('--replace');
    expect(anew.code).to.equal(0);
    expect((await report('demo-shop', 2)).series.slice(0, 2)).to.deep.equal(told.series.slice(0, 2));
  });
});
