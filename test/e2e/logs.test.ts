/** The log service from outside, over HTTP; long, because all of it is asked of one program, which takes seconds to start. */
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { findRuntime } from '../../adapters/engines/runtime.js';
import { createCheckpoints } from '../../adapters/mongo/checkpoints.js';
import { connectMongo } from '../../adapters/mongo/client.js';
import { createLeases } from '../../adapters/mongo/leases.js';
import type { Entry, Page } from '../../application/logs/queries.js';
import type { Reindexing, ReindexReport } from '../../application/logs/reindex.js';
import { temporaryDirectory } from '../support/engines.js';
import { type LogClient, logClient, tailed } from '../support/log-client.js';
import { type Server, startServer } from '../support/server.js';

interface Receipt {
  readonly accepted: number;
  readonly rejected: number;
  readonly queued: boolean;
  readonly producerId: string;
  readonly receivedAt: string;
  readonly errors: readonly { readonly line: number; readonly error: string }[];
  readonly error?: string;
}

interface Counted {
  readonly groupBy: string;
  readonly groupField?: string;
  readonly buckets: readonly { readonly key: string; readonly count: number }[];
  readonly total: number;
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** What a tail says until it has said something. */
async function rawTail(url: string, connected: () => void): Promise<string> {
  const answer = await fetch(url);
  connected();
  let said = '';
  for await (const chunk of answer.body!) {
    said += Buffer.from(chunk).toString();
    if (/data: .*\n\n/.test(said)) break;
  }
  return said;
}

describe('the log service', () => {
  const directory = temporaryDirectory();
  let server: Server;
  let base: string;
  let client: LogClient;
  /** Tells the records of one test from those of the others. */
  let run: string;

  before(async () => {
    server = await startServer(directory.path);
    base = server.urls.logs ?? '';
    client = logClient(base);
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });
  beforeEach(() => {
    run = randomUUID().slice(0, 8);
  });

  const mine = (query = '') => `field=run&value=${run}${query && `&${query}`}`;
  const post = (body: string | Uint8Array, type = 'application/x-ndjson', headers = {}) =>
    client.ask<Receipt>('POST', '/api/ingest', { body, headers: { 'content-type': type, ...headers } });
  const messages = (entries: readonly Entry[]) => entries.map(({ message }) => message);
  const count = async (query: string) =>
    (await client.ask<Counted>('GET', `/api/logs/aggregate?${query}&${mine()}`)).body;

  describe('takes in', () => {
    it('NDJSON, and tells which lines were no records', async () => {
      const { status, body } = await post(
        `{"run":"${run}","message":"a"}\nnonsense\n[1]\n{"run":"${run}"}\n`,
      );
      expect(status).to.equal(200);
      expect(body).to.deep.include({ accepted: 2, rejected: 2, queued: false, producerId: 'default' });
      expect(body.receivedAt).to.match(ISO);
      expect(body.errors.map(({ line }) => line)).to.deep.equal([2, 3]);
      expect(body.errors.every(({ error }) => typeof error === 'string')).to.equal(true);
    });

    it('an array, {logs}, one object, whatever the content type, and gzip', async () => {
      const record = (n: number) => ({ run, message: `m${n}` });
      expect((await post(JSON.stringify([record(1), record(2)]), 'application/json')).body.accepted).to.equal(
        2,
      );
      expect((await post(JSON.stringify({ logs: [record(3)] }), 'application/json')).body.accepted).to.equal(
        1,
      );
      expect((await post(JSON.stringify(record(4)), 'application/json')).body.accepted).to.equal(1);
      expect((await post(JSON.stringify(record(5)), 'text/plain')).body.accepted).to.equal(1);
      expect((await post(JSON.stringify(record(6)), 'application/ndjson')).body.accepted).to.equal(1);
      const packed = gzipSync(JSON.stringify(record(7)));
      const gzip = { 'content-encoding': 'gzip' };
      expect((await post(packed, 'application/x-ndjson', gzip)).body.accepted).to.equal(1);
      expect(messages(await client.all(mine('order=asc')))).to.have.members(
        [1, 2, 3, 4, 5, 6, 7].map((n) => `m${n}`),
      );
    });

    it('nothing, politely', async () => {
      expect((await post('')).body).to.deep.include({ accepted: 0, rejected: 0, errors: [] });
      expect((await post('no\nthing\n')).body).to.deep.include({ accepted: 0, rejected: 2 });
    });

    it('no JSON that is none, and no body beyond 8 MiB', async () => {
      const { status, body } = await post('{"broken', 'application/json');
      expect([status, typeof body.error]).to.deep.equal([400, 'string']);
      for (const valid of ['5', 'null', '"a text"']) {
        const refused = await post(valid, 'application/json');
        expect([refused.status, refused.body.error]).to.deep.equal([
          400,
          'The body is not a valid JSON object, nor a list of them',
        ]);
      }
      expect((await post(`{"a":"${'x'.repeat(8 * 1024 * 1024)}"}`)).status).to.equal(413);
      const bomb = gzipSync(Buffer.alloc(9 * 1024 * 1024, 'x'));
      expect((await post(bomb, 'text/plain', { 'content-encoding': 'gzip' })).status).to.equal(413);
    });

    it('records of up to 64 KiB each, thousands at once', async () => {
      const records = Array.from({ length: 3000 }, (_, n) => ({ run, n, message: 'x'.repeat(400) }));
      const large = { run, message: 'y'.repeat(65 * 1024) };
      const { body } = await client.ask<Receipt>('POST', '/api/ingest', {
        body: [...records, large].map((each) => JSON.stringify(each)).join('\n'),
      });
      expect(body).to.deep.include({ accepted: 3000, rejected: 1 });
      expect(body.errors[0]?.line).to.equal(3001);
      const found = await client.all(mine('order=asc'));
      expect(found.map(({ data }) => data.n)).to.deep.equal(records.map(({ n }) => n));
    });

    it('numbers that no double holds, and gives them back as they came', async () => {
      const text = `{"run":"${run}","id":9007199254740993,"n":[-12345678901234567890,1.5]}`;
      let first: Promise<string> | undefined;
      await new Promise<void>((connected) => {
        first = rawTail(`${base}/api/logs/tail?${mine()}`, connected);
      });
      expect((await post(text)).body.accepted).to.equal(1);
      for (const query of ['', 'field=id&value=9007199254740993', 'field=n&value=-12345678901234567890']) {
        const answer = await fetch(`${base}/api/logs?${mine(query)}`);
        expect(await answer.text(), query).to.include(`"data":${text}`);
      }
      expect((await client.page(mine('field=id&value=9007199254740992'))).entries).to.deep.equal([]);
      expect((await count('groupBy=field&groupField=id')).buckets).to.deep.equal([
        { key: '9007199254740993', count: 1 },
      ]);
      expect(await first).to.include(`"data":${text}`);
    });

    it('a lone line with a member `logs` as a record, and nothing it says of its producer', async () => {
      const record = { run, logs: [{ a: 1 }], producerId: 'forged', deep: { producerId: 'kept' } };
      expect((await post(JSON.stringify(record))).body.accepted).to.equal(1);
      const { entries } = await client.page(mine());
      expect(entries.map(({ data }) => data)).to.deep.equal([{ ...record, producerId: 'default' }]);
    });

    it('the same keyed request once, to the byte, also one of which it took nothing', async () => {
      for (const body of [`{"run":"${run}"}\nbad`, 'bad\n']) {
        const key = { 'idempotency-key': randomUUID(), 'content-type': 'text/plain' };
        const send = async () =>
          (await fetch(`${base}/api/ingest`, { method: 'POST', body, headers: key })).text();
        const first = await send();
        expect(await send()).to.equal(first);
        expect((await post('{"other":1}', 'text/plain', key)).status).to.equal(422);
      }
      expect((await count('groupBy=level')).total).to.equal(1);
    });

    it('the same keyed request once', async () => {
      const key = { 'idempotency-key': run };
      const body = `{"run":"${run}","message":"once"}\n{"run":"${run}","audit":true}\nbad`;
      const first = await post(body, 'text/plain', key);
      const [second, third] = await Promise.all([
        post(body, 'text/plain', key),
        post(body, 'text/plain', key),
      ]);
      expect(second.body).to.deep.equal(first.body);
      expect(third.body).to.deep.equal(first.body);
      expect((await count('groupBy=level')).total).to.equal(2);
      expect((await post(`{"run":"${run}"}`, 'text/plain', key)).status).to.equal(422);
    });
  });

  describe('answers', () => {
    const MORNING = Date.UTC(2026, 5, 1, 8);
    const at = (minutes: number) => new Date(MORNING + minutes * 60_000).toISOString();

    it('with records as the contract shows them', async () => {
      const data = {
        run,
        timestamp: at(0),
        level: 'warn',
        event: 'login',
        message: 'hi',
        requestId: 'r-1',
        n: 1,
      };
      await client.ingest([data]);
      const { entries, hasMore, limit } = await client.page(mine());
      expect([hasMore, limit]).to.deep.equal([false, 100]);
      const [entry] = entries;
      expect(entry).to.deep.include({
        timestamp: at(0),
        level: 'WARN',
        event: 'login',
        message: 'hi',
        producerId: 'default',
        correlationId: 'r-1',
        data,
      });
      expect(entry?.id).to.be.a('string').and.not.equal('');
    });

    it('with what passes all filters', async () => {
      await client.ingest([
        {
          run,
          timestamp: at(0),
          level: 'error',
          event: 'start',
          message: 'Disk full',
          http: { status: 500 },
        },
        {
          run,
          timestamp: at(1),
          level: 'info',
          event: 'stop',
          message: 'disk ok',
          correlationId: 'c',
          tags: ['x'],
        },
        { run, timestamp: at(2), level: 'debug', message: 'quiet', audit: true },
      ]);
      const found = async (query: string) =>
        messages((await client.page(mine(`order=asc&${query}`))).entries);
      expect(await found('level=error,DEBUG')).to.deep.equal(['Disk full', 'quiet']);
      expect(await found('level=error&level=info')).to.deep.equal(['Disk full', 'disk ok']);
      expect(await found('event=stop')).to.deep.equal(['disk ok']);
      expect(await found('event=quiet')).to.deep.equal(['quiet']);
      expect(await found('correlation=c')).to.deep.equal(['disk ok']);
      expect(await found('q=DISK')).to.deep.equal(['Disk full', 'disk ok']);
      expect(await found('q=disk%20full')).to.deep.equal(['Disk full']);
      expect(await found('field=http.status&value=500')).to.deep.equal(['Disk full']);
      expect(await found('field=tags&value=x&field=event&value=stop')).to.deep.equal(['disk ok']);
      expect(await found('audit=true')).to.deep.equal(['quiet']);
      expect(await found('audit=false')).to.deep.equal(['Disk full', 'disk ok']);
      expect(await found('producer=default&event=start')).to.deep.equal(['Disk full']);
      expect(await found('producer=other')).to.deep.equal([]);
      expect(await found(`from=${at(1)}&to=${MORNING + 60_000}`)).to.deep.equal(['disk ok']);
      expect(await found('from=2026-06-01&to=2026-06-01')).to.have.length(3);
      expect(await found('to=2026-05-31')).to.deep.equal([]);
    });

    it('in order of instant, then as they came, page by page', async () => {
      const records = Array.from({ length: 57 }, (_, n) => ({
        run,
        n,
        timestamp: at(Math.floor(n / 10) % 3),
      }));
      for (const record of records) await client.ingest([record]);
      const expected = records.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp)).map(({ n }) => n);
      const numbers = async (order: string) =>
        (await client.all(mine(`order=${order}`), 7)).map(({ data }) => data.n);
      expect(await numbers('asc')).to.deep.equal(expected);
      expect(await numbers('desc')).to.deep.equal(expected.toReversed());
    });

    it('pages that miss nothing and repeat nothing while records come in', async () => {
      const old = Array.from({ length: 600 }, (_, n) => ({ run, n, timestamp: at(n % 60) }));
      await client.ingest(old);
      let writing = true;
      let sent = 0;
      const writer = (async () => {
        while (writing) await client.ingest([{ run, late: sent++, timestamp: at(sent % 60) }]);
      })();
      for (const order of ['asc', 'desc']) {
        const entries = await client.all(mine(`order=${order}`), 25);
        const ids = entries.map(({ id }) => id);
        expect(new Set(ids).size).to.equal(ids.length);
        const found = new Set(entries.map(({ data }) => data.n));
        expect(old.filter(({ n }) => !found.has(n))).to.deep.equal([]);
        const times = entries.map(({ timestamp }) => timestamp);
        expect(times).to.deep.equal(order === 'asc' ? times.toSorted() : times.toSorted().toReversed());
      }
      writing = false;
      await writer;
      expect(sent).to.be.greaterThan(0);
      expect(await client.all(mine())).to.have.length(600 + sent);
    });

    it('wrong questions with 400 and a reason', async () => {
      const wrong = [
        'from=soon',
        'to=2026-13-01',
        'from=2026-02-30',
        'to=2025-02-29T10:00:00Z',
        'limit=1e400',
        'cursor=nonsense',
        'limit=0',
        'limit=x',
        'order=sideways',
        'field=a',
        'value=a',
        'field=a&field=b&value=c',
        'audit=maybe',
      ];
      for (const query of wrong) {
        const { status, body } = await client.ask('GET', `/api/logs?${query}`);
        expect([status, typeof body.error], query).to.deep.equal([400, 'string']);
      }
      for (const query of [
        '',
        'groupBy=color',
        'groupBy=field',
        'groupBy=time&interval=2d',
        'groupBy=time&interval=5',
      ])
        expect((await client.ask('GET', `/api/logs/aggregate?${query}`)).status, query).to.equal(400);
      expect((await client.page('limit=5000')).limit).to.equal(1000);
    });

    it('counts by level, event, field, correlation and time', async () => {
      await client.ingest([
        { run, timestamp: at(0), level: 'error', event: 'a', requestId: 'r', user: { id: 1 } },
        { run, timestamp: at(1), level: 'info', event: 'b', user: { id: 2 } },
        { run, timestamp: at(61), level: 'info', event: 'b', requestId: 'r', user: { id: 2 } },
      ]);
      const bucket = (key: string, many: number) => ({ key, count: many });
      expect(await count('groupBy=level')).to.deep.equal({
        groupBy: 'level',
        buckets: [bucket('INFO', 2), bucket('ERROR', 1)],
        total: 3,
      });
      expect((await count('groupBy=event')).buckets).to.deep.equal([bucket('b', 2), bucket('a', 1)]);
      expect((await count('groupBy=correlation')).buckets).to.deep.equal([
        bucket('r', 2),
        bucket('(missing)', 1),
      ]);
      expect(await count('groupBy=field&groupField=user.id&limit=1')).to.deep.equal({
        groupBy: 'field',
        groupField: 'user.id',
        buckets: [bucket('2', 2)],
        total: 3,
      });
      expect((await count('groupBy=time&interval=1h')).buckets).to.deep.equal([
        bucket(at(0), 2),
        bucket(at(60), 1),
      ]);
      expect((await count('groupBy=time&interval=1m&level=info')).buckets).to.deep.equal([
        bucket(at(1), 1),
        bucket(at(61), 1),
      ]);
    });

    it('counts of whole hours as it counts one by one', async () => {
      const records = Array.from({ length: 90 }, (_, n) => ({
        n,
        timestamp: at(n * 4),
        level: n % 3 ? 'info' : 'error',
      }));
      await client.ingest(records);
      const range = `from=${at(30)}&to=${at(300)}`;
      const all = (await client.ask<Counted>('GET', `/api/logs/aggregate?groupBy=level&${range}`)).body;
      const one = await client.all(range);
      expect(all.total).to.equal(one.length);
      for (const { key, count: many } of all.buckets)
        expect(many).to.equal(one.filter(({ level }) => level === key).length);
    });
  });

  describe('follows', () => {
    it('new records through filters, and goes on where a client was', async () => {
      const url = `${base}/api/logs/tail?${mine('level=error')}`;
      let first: ReturnType<typeof tailed> | undefined;
      await new Promise<void>((connected) => {
        first = tailed(url, (entries) => entries.length === 2, { connected });
      });
      await client.ingest([{ run, level: 'info', message: 'no' }]);
      await client.ingest([
        { run, level: 'error', message: 'one' },
        { run, level: 'error', message: 'two' },
      ]);
      const seen = await first!;
      expect(messages(seen.entries)).to.deep.equal(['one', 'two']);
      await client.ingest([{ run, level: 'error', message: 'three' }]);
      const missed = await tailed(url, (entries) => entries.length === 1, { lastEventId: seen.cursor! });
      expect(messages(missed.entries)).to.deep.equal(['three']);
      const listed = await client.all(mine('level=error&order=asc'));
      expect([...seen.entries, ...missed.entries]).to.deep.equal(listed);
    });

    it('from the position of a page', async () => {
      await client.ingest([{ run, message: 'before' }]);
      const page = await client.ask<Page>('GET', `/api/logs?${mine()}`);
      expect(messages(page.body.entries)).to.deep.equal(['before']);
      await client.ingest([{ run, message: 'after' }]);
      const lastEventId = page.headers.get('position') ?? '';
      const { entries } = await tailed(`${base}/api/logs/tail?${mine()}`, (all) => all.length > 0, {
        lastEventId,
      });
      expect(messages(entries)).to.deep.equal(['after']);
    });
  });

  describe('rebuilds its index', () => {
    it('with the same answers, ids and cursors, while queries go on', async () => {
      await client.ingest(Array.from({ length: 300 }, (_, n) => ({ run, n })));
      const before = await client.all(mine(), 50);
      const { nextCursor } = await client.page(mine('limit=10'));
      let asking = true;
      const reader = (async () => {
        while (asking) expect((await client.all(mine())).length).to.equal(300);
      })();
      const { status, body } = await client.ask<ReindexReport>('POST', '/api/reindex');
      asking = false;
      await reader;
      expect(status).to.equal(200);
      expect(body.report).to.deep.include({ mode: 'full', recordsSkipped: 0, parseErrors: 0 });
      expect(body.report.recordsInserted).to.equal(body.reset.entriesDeleted).and.at.least(300);
      expect(body.report.startedAt).to.match(ISO);
      expect(body.report.durationMs).to.be.a('number');
      expect(await client.all(mine(), 50)).to.deep.equal(before);
      const { entries } = await client.page(mine(`limit=10&cursor=${nextCursor}`));
      expect(entries).to.deep.equal(before.slice(10, 20));
    });

    it('but not for a body that is no JSON', async () => {
      const headers = { 'content-type': 'application/json' };
      const { status, body } = await client.ask<object>('POST', '/api/reindex', { body: '{', headers });
      expect([status, body]).to.deep.equal([400, { error: 'The body is not valid JSON' }]);
      expect((await client.ask('POST', '/api/reindex', { body: '', headers })).status).to.equal(200);
    });

    it('one at a time, in the background if asked', async () => {
      await client.ingest(Array.from({ length: 5000 }, (_, n) => ({ run, n, text: `word${n} `.repeat(10) })));
      const begun = await client.ask<{ id: string }>('POST', '/api/reindex?async=true');
      expect(begun.status).to.equal(202);
      const second = await client.ask<{ error: string; progress: Reindexing }>('POST', '/api/reindex');
      expect(second.status).to.equal(409);
      expect(second.body.error).to.be.a('string');
      expect(second.body.progress.id).to.equal(begun.body.id);
      for (;;) {
        const { body } = await client.ask<Reindexing>('GET', '/api/reindex');
        expect(body.id).to.equal(begun.body.id);
        if (body.state === 'running') continue;
        expect(body.state).to.equal('done');
        break;
      }
      expect(await client.all(mine())).to.have.length(5000);
    });

    it('not while another process does, and says how far that one is', async () => {
      const { projections } = JSON.parse(await (await fetch(`${server.urls.operations}/projections`)).text());
      const served = projections.find(({ name }: { name: string }) => name === 'logs.records');
      // Another process is here what it is to a node: its lease, its collection, its checkpoint.
      const mongo = await connectMongo(findRuntime(directory.path)?.mongoUrl ?? '', 'annals');
      const build = served.collection.replace(/[^_]+$/, (run: string) => `${run}z`);
      try {
        const lease = await createLeases(mongo.models, 'another process').acquire('build:logs.records');
        await mongo.models.createCollection(build);
        await createCheckpoints(mongo.models).advance({ [build]: 77n }, lease!);
        for (const query of ['', '?async=true']) {
          const refused = await client.ask<{ error: string; progress: Reindexing }>(
            'POST',
            `/api/reindex${query}`,
          );
          expect(refused.status).to.equal(409);
          expect(refused.body.error).to.be.a('string');
          expect(refused.body.progress).to.deep.include({ state: 'running', position: '77' });
          expect(Number(refused.body.progress.until)).to.be.at.least(Number(served.position));
        }
        expect((await client.ask<Reindexing>('GET', '/api/reindex')).body).to.deep.include({
          state: 'running',
          position: '77',
        });
        await mongo.models.collection(build).drop();
        await lease?.release();
      } finally {
        await mongo.close();
      }
      expect((await client.ask<Reindexing>('GET', '/api/reindex')).body.state).not.to.equal('running');
      expect((await client.ask('POST', '/api/reindex')).status).to.equal(200);
    });
  });

  it('is healthy, and says so to everybody', async () => {
    const { status, body } = await client.ask<{ [section: string]: unknown }>('GET', '/health');
    expect(status).to.equal(200);
    expect(body).to.include.keys(
      'ok',
      'service',
      'version',
      'uptimeSec',
      'runtime',
      'storage',
      'ingest',
      'auth',
      'index',
    );
    expect([body.ok, body.service]).to.deep.equal([true, 'logs']);
    expect(body.index).to.include.keys('lag', 'position');
  });

  it('names its routes in its document', async () => {
    const { body } = await client.ask<{ openapi: string; paths: object }>('GET', '/openapi.json');
    expect(body.openapi).to.match(/^3\.1/);
    expect(body.paths).to.include.keys(
      '/health',
      '/api/ingest',
      '/api/logs',
      '/api/logs/aggregate',
      '/api/reindex',
    );
  });
});

describe('the log service with credentials', () => {
  const directory = temporaryDirectory();
  let server: Server;
  let client: LogClient;

  before(async () => {
    server = await startServer(directory.path, ['--logs-api-token', 'a-long-enough-token'], {
      ANNALS_LOGS_BASIC_USERNAME: 'ops',
      ANNALS_LOGS_BASIC_PASSWORD: 'secret',
      ANNALS_LOGS_PRODUCERS: JSON.stringify([{ id: 'shop', token: 'token-of-the-shop' }]),
    });
    client = logClient(server.urls.logs ?? '');
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const basic = (name: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
  });

  it('lets nobody in without', async () => {
    const routes = [
      ['POST', '/api/ingest'],
      ['GET', '/api/logs'],
      ['GET', '/api/logs/aggregate?groupBy=level'],
      ['GET', '/api/logs/tail'],
      ['POST', '/api/reindex'],
      ['GET', '/api/reindex'],
    ];
    for (const [method = '', path = ''] of routes) {
      for (const headers of [{}, bearer('wrong'), basic('ops', 'wrong'), basic('other', 'secret')]) {
        const { status, headers: given } = await client.ask(method, path, { headers });
        expect([status, !!given.get('www-authenticate')], `${method} ${path}`).to.deep.equal([401, true]);
      }
    }
    expect((await client.ask('GET', '/health')).status).to.equal(200);
    expect((await client.ask('GET', '/openapi.json')).status).to.equal(200);
  });

  it('knows who sends by how they sign in, whatever the records say', async () => {
    const record = [{ producerId: 'forged', producer: 'forged' }];
    const producers = [];
    for (const headers of [
      bearer('a-long-enough-token'),
      basic('ops', 'secret'),
      bearer('token-of-the-shop'),
    ])
      producers.push((await client.ingest(record, headers)).body.producerId);
    expect(producers).to.deep.equal(['default', 'ops', 'shop']);
    const { body } = await client.ask<Page>('GET', '/api/logs?producer=shop', {
      headers: basic('ops', 'secret'),
    });
    expect(body.entries.map(({ producerId }) => producerId)).to.deep.equal(['shop']);
  });

  it('lets a producer only send', async () => {
    const { status } = await client.ask('GET', '/api/logs', { headers: bearer('token-of-the-shop') });
    expect(status).to.equal(403);
  });

  it('shows no secret in its health', async () => {
    const { body } = await client.ask<object>('GET', '/health');
    expect(JSON.stringify(body)).to.not.match(/a-long-enough-token|secret|token-of-the-shop/);
  });
});
