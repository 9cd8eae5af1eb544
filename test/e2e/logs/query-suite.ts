/** Queries of the log service: records by filter, order and page, and counts. */
import { expect } from 'chai';
import { type Counted, type LogsUnderTest, messages, type SuiteContext } from './shared-service.js';

export function answers(logs: LogsUnderTest) {
  const { count, mine } = logs;
  let client: SuiteContext['client'];
  let run: SuiteContext['run'];
  beforeEach(() => {
    ({ client, run } = logs.context());
  });

  describe('queries', () => {
    const MORNING = Date.UTC(2026, 5, 1, 8);
    const at = (minutes: number) => new Date(MORNING + minutes * 60_000).toISOString();

    it('return records in the shape of the contract', async () => {
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

    it('combine all filters', async () => {
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
      const found = async (query: string) => messages((await client.page(mine(`order=asc&${query}`))).entries);
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

    it('order by time, then by arrival, across pages', async () => {
      const records = Array.from({ length: 57 }, (_, n) => ({
        run,
        n,
        timestamp: at(Math.floor(n / 10) % 3),
      }));
      for (const record of records) await client.ingest([record]);
      const expected = records.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp)).map(({ n }) => n);
      const numbers = async (order: string) => (await client.all(mine(`order=${order}`), 7)).map(({ data }) => data.n);
      expect(await numbers('asc')).to.deep.equal(expected);
      expect(await numbers('desc')).to.deep.equal(expected.toReversed());
    });

    it('neither miss nor repeat records across pages during ingest', async () => {
      const old = Array.from({ length: 250 }, (_, n) => ({ run, n, timestamp: at(n % 60) }));
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
      expect(await client.all(mine())).to.have.length(old.length + sent);
    });

    it('refuse invalid parameters with 400 and a reason', async () => {
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
      for (const query of ['', 'groupBy=color', 'groupBy=field', 'groupBy=time&interval=2d', 'groupBy=time&interval=5'])
        expect((await client.ask('GET', `/api/logs/aggregate?${query}`)).status, query).to.equal(400);
      expect((await client.page('limit=5000')).limit).to.equal(1000);
    });

    it('count by level, event, field, correlation and time', async () => {
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
      expect((await count('groupBy=correlation')).buckets).to.deep.equal([bucket('r', 2), bucket('(missing)', 1)]);
      expect(await count('groupBy=field&groupField=user.id&limit=1')).to.deep.equal({
        groupBy: 'field',
        groupField: 'user.id',
        buckets: [bucket('2', 2)],
        total: 3,
      });
      expect((await count('groupBy=time&interval=1h')).buckets).to.deep.equal([bucket(at(0), 2), bucket(at(60), 1)]);
      expect((await count('groupBy=time&interval=1m&level=info')).buckets).to.deep.equal([
        bucket(at(1), 1),
        bucket(at(61), 1),
      ]);
    });

    it('leave out levels, events, producers and fields', async () => {
      await client.ingest([
        { run, timestamp: at(0), level: 'error', event: 'a', user: { id: 1 } },
        { run, timestamp: at(1), level: 'info', event: 'b', user: { id: 2 } },
        { run, timestamp: at(2), level: 'debug', event: 'c', tags: ['x', 'y'] },
      ]);
      const events = async (query: string) =>
        (await client.page(mine(`order=asc&${query}`))).entries.map(({ event }) => event).join('');
      expect(await events('notLevel=debug,info')).to.equal('a');
      expect(await events('notEvent=a&notEvent=c')).to.equal('b');
      expect(await events('notField=user.id&notValue=1')).to.equal('bc');
      expect(await events('notField=user.id&notValue=1&notField=tags&notValue=y')).to.equal('b');
      expect(await events('notProducer=nobody')).to.equal('abc');
      const [{ key: producer = '', count: many = 0 } = {}] = (await count('groupBy=producer')).buckets;
      expect(many).to.equal(3);
      expect(await events(`notProducer=${producer}`)).to.equal('');
      expect((await count('groupBy=level&notEvent=a')).total).to.equal(2);
      for (const query of ['notField=a', 'notValue=a', 'notField=&notValue=a'])
        expect((await client.ask('GET', `/api/logs?${query}`)).status, query).to.equal(400);
    });

    it('count whole hours equal to counting single records', async () => {
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
}
