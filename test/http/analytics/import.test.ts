/** Importing hits of the past: each is counted once on its day, and nothing identifies the visitor. */
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
import { run } from '../../support/server-process.js';

const DAY_MS = 86_400_000;

describe('importing hits of the past', function () {
  this.timeout(60_000);
  const nodes = useAnalytics();
  const { site, collect, written, given } = nodes;
  const noon = (ago: number) => Math.floor(Date.now() / DAY_MS - ago) * DAY_MS + DAY_MS / 2;
  const dayOf = (ago: number) => new Date(noon(ago)).toISOString().slice(0, 10);

  async function createImporter(): Promise<HitImporter> {
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

  async function importLines(lines: readonly (object | string)[], source = '') {
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
    const { validate, importChunk } = await createImporter();
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
    // Another process wrote the hits, so read at its position.
    const headers = { 'if-position': String(await nodes.observer.kernel.head()) };
    return given('GET', `/api/report?site=${siteId}&days=${ago + 1}`, asAdmin({ headers }));
  }
  const seriesOf = async (siteId: string) => {
    const { series } = await report(siteId);
    return series.filter((day: { pageviews: number; events: number }) => day.pageviews + day.events > 0);
  };

  it('counts hits on their days, with user agent details and daily visitors', async () => {
    const id = await site();
    const hit = { site: id, path: '/a?secret=1', userAgent: FIREFOX };
    const done = await importLines([
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

  it('stores no addresses or user agents, and links no visitor across days', async () => {
    const id = await site();
    const of = (ago: number) => ({
      site: id,
      path: '/',
      timestamp: noon(ago),
      address: '198.51.100.77',
      userAgent: FIREFOX,
    });
    await importLines([of(3), of(2)]);
    const events = await written(id);
    const visitors = events.flatMap(({ data }) => data.secret.visitors);
    expect(new Set(visitors).size).to.equal(2);
    for (const visitor of visitors) expect(visitor).to.match(/^[\da-f]{16}$/);
    expect(JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.to.match(
      /198\.51|Mozilla/,
    );
    // Known lines are recognised without the address, so that addresses cannot be guessed from them.
    const others = [of(3), of(2)].map((line) => ({ ...line, address: '203.0.113.5' }));
    expect(await importLines(others)).to.include({ stored: 0, known: 2 });
  });

  it('assigns imported hits of today to the same visitors as collected ones', async () => {
    const id = await site();
    await collect({ site: id, host: 'example.com' });
    await importLines([{ site: id, path: '/', timestamp: Date.now() - 1, address: '127.0.0.1', userAgent: FIREFOX }]);
    expect((await report(id)).totals).to.deep.equal({ pageviews: 2, events: 0, uniques: 1 });
  });

  it('counts repeated imports once, also when lines were appended', async () => {
    const id = await site();
    const lines = Array.from({ length: 1203 }, (_, n) => ({
      site: id,
      path: `/${n % 7}`,
      timestamp: noon(2) + (n >> 1),
    }));
    expect(await importLines(lines.slice(0, 700))).to.include({ stored: 700, known: 0 });
    expect(await importLines(lines.slice(0, 700))).to.include({ stored: 0, known: 700 });
    expect(await importLines(lines)).to.include({ stored: 503, known: 700 });
    expect(await importLines(lines)).to.include({ stored: 0, known: 1203 });
    expect((await report(id)).totals.pageviews).to.equal(1203);
  });

  it('counts repeated imports once, also after lines were fixed or their site was created', async () => {
    const [id, laterSite] = [await site(), `late-${Date.now()}`];
    const lines = Array.from({ length: 3000 }, (_, n) => ({
      site: n % 4 === 3 ? laterSite : id,
      path: `/${n % 7}`,
      timestamp: noon(4 - (n % 3)) + n,
    }));
    const first = await importLines(['{"site":', ...lines]);
    expect(first).to.include({ stored: 2250, known: 0, refused: 0 });
    expect(await importLines(lines)).to.include({ stored: 0, known: 2250, refused: 0 });
    await given('POST', '/api/sites', asAdmin({ body: { id: laterSite } }));
    expect(await importLines(lines)).to.include({ stored: 750, known: 2250, refused: 0 });
    expect((await report(id)).totals.pageviews).to.equal(2250);
    const { known, refused } = await importLines(lines.filter((_, n) => n !== 1200));
    // Except for the lines in the same chunk as the removed one.
    expect(known + refused).to.be.at.least(1999);
  });

  it('groups hits by day in any order', async () => {
    const id = await site();
    const lines = Array.from({ length: 600 }, (_, n) => ({
      site: id,
      path: '/',
      timestamp: noon(1 + ((n * 37) % 60)),
    }));
    expect(await importLines(lines)).to.include({ stored: 600 });
    expect(await written(id)).to.have.lengthOf(60);
    expect((await report(id, 60)).totals.pageviews).to.equal(600);
  });

  it('rejects files that change or insert lines in an imported file, unless they are given another source name', async () => {
    const id = await site();
    const lines = ['/a', '/b', '/c'].map((path) => ({ site: id, path, timestamp: noon(2) }));
    const [first, second, third] = lines as [object, object, object];
    const inserted = { site: id, path: '/x', timestamp: noon(2) };
    await importLines(lines);
    for (const other of [
      [first, inserted, third],
      [first, inserted, second, third],
    ])
      expect(await importLines(other)).to.include({ stored: 0, known: 0, refused: other.length });
    expect(await importLines([first, inserted], 'another server')).to.include({ stored: 2, refused: 0 });
    expect((await report(id)).totals.pageviews).to.equal(5);
  });

  it('imports again for a site that was deleted and recreated', async () => {
    const id = await site();
    const lines = [{ site: id, path: '/', timestamp: noon(2) }];
    await importLines(lines);
    await given('DELETE', `/api/sites/${id}`, asAdmin());
    await given('POST', '/api/sites', asAdmin({ body: { id, domains: ['example.com'] } }));
    expect(await importLines(lines)).to.include({ stored: 1, known: 0 });
    expect((await report(id)).totals.pageviews).to.equal(1);
  });

  it('reports rejected lines by number, also in the command', async () => {
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
    expect(await importLines(lines)).to.deep.equal({ stored: 0, known: 1, refused: 0, why });
  });

  it('imports other files when one is damaged, and names the damaged one', async () => {
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

  it('seeds demonstration data once, and replaces it on request', async () => {
    const seed = (...more: readonly string[]) =>
      run(['analytics', 'seed', '--days', '3', '--scale', '0.1', ...more, ...nodes.storeFlags]);
    const first = await seed();
    expect(first).to.include({ code: 0, stderr: '' });
    expect(first.stdout).to.match(/^[\d,]+ hits on 3 days for demo-shop, demo-blog, demo-docs\n$/);
    const seeded = await report('demo-shop', 2);
    expect(seeded.totals.pageviews).to.be.above(60);
    expect(seeded.totals.uniques).to.be.within(20, seeded.totals.pageviews / 2);
    for (const list of ['pages', 'referrers', 'browsers', 'os', 'devices', 'countries'])
      expect(seeded[list], list).to.have.lengthOf.at.least(3);
    const again = await seed();
    expect(again.code).to.equal(1);
    expect(again.stderr).to.equal(
      'annals: demo-shop, demo-blog, demo-docs exist already; --replace deletes them, with all data\n',
    );
    const anew = await seed('--replace');
    expect(anew.code).to.equal(0);
    expect((await report('demo-shop', 2)).series.slice(0, 2)).to.deep.equal(seeded.series.slice(0, 2));
  });
});
