/** `annals logs` as a process: what it asks, prints and exits with, behind pipes and before a service in trouble. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { pretty, shaped } from '../../../bin/commands/logs/format.js';
import { temporaryDirectory } from '../../support/engines.js';
import { json, type LogService, startLogService, takeAll } from '../../support/log-service.js';
import { run, start } from '../../support/program.js';

const entry = (id: number, more = {}) => ({
  id: `id-${id}`,
  timestamp: `2026-11-21T12:00:00.${String(id % 1000).padStart(3, '0')}Z`,
  level: 'INFO',
  event: 'order.paid',
  message: `order ${id}`,
  producerId: 'default',
  correlationId: null,
  data: { level: 30, msg: `order ${id}`, id },
  ...more,
});

/** A module that collects garbage on a signal, and says so. */
const COLLECTING = `data:text/javascript,${encodeURIComponent(
  `import { setFlagsFromString } from 'node:v8'; import { runInNewContext } from 'node:vm';
   setFlagsFromString('--expose-gc'); const gc = runInNewContext('gc');
   process.on('SIGUSR2', () => { gc(); console.error('collected'); });`,
)}`;

describe('annals logs', () => {
  let service: LogService;
  let directory: ReturnType<typeof temporaryDirectory>;
  const path = (name: string) => join(directory.path, name);
  const logs = (args: readonly string[], input?: string, env = {}) =>
    run(['logs', ...args, '--url', service.url], input, { cwd: directory.path, env });

  beforeEach(async () => {
    service = await startLogService();
    directory = temporaryDirectory();
  });
  afterEach(async () => {
    await service.close();
    directory.remove();
  });

  describe('query', () => {
    it('asks with every filter and prints NDJSON into a pipe', async () => {
      service.respond = (_, response) =>
        json(response, 200, { entries: [entry(2), entry(1)], hasMore: false });
      const flags = [
        '--from',
        '2026-11-21',
        '--to',
        '1795262400000',
        '-l',
        'ERROR,FATAL',
        '--event',
        'order.paid',
      ];
      const more = [
        '--producer',
        'web',
        '--correlation',
        'c1',
        '--field',
        'user.id=4=2',
        '--field',
        'a=',
        '--audit',
      ];
      const { code, stdout, stderr } = await logs([
        'query',
        'two',
        'words',
        ...flags,
        ...more,
        '--order',
        'asc',
      ]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).to.deep.equal([entry(2), entry(1)]);
      expect(service.asked[0]?.path).to.equal('/api/logs');
      expect([...(service.asked[0]?.query ?? [])]).to.have.deep.members([
        ['from', String(Date.UTC(2026, 10, 21))],
        ['to', '1795262400000'],
        ['level', 'ERROR,FATAL'],
        ['event', 'order.paid'],
        ['producer', 'web'],
        ['correlation', 'c1'],
        ['field', 'user.id'],
        ['value', '4=2'],
        ['field', 'a'],
        ['value', ''],
        ['audit', 'true'],
        ['q', 'two words'],
        ['order', 'asc'],
        ['limit', '100'],
      ]);
    });

    it('understands an age', async () => {
      service.respond = (_, response) => json(response, 200, { entries: [], hasMore: false });
      await logs(['query', '--from', '2h']);
      const from = Number(service.asked[0]?.query.get('from'));
      expect(from).to.be.closeTo(Date.now() - 7_200_000, 30_000);
    });

    const paged =
      (total: number): LogService['respond'] =>
      ({ query }, response) => {
        const [from, limit] = [Number(query.get('cursor') ?? 0), Number(query.get('limit'))];
        const to = Math.min(total, from + limit);
        const entries = Array.from({ length: to - from }, (_, index) => entry(from + index));
        json(response, 200, {
          entries,
          hasMore: to < total,
          ...(to < total ? { nextCursor: String(to) } : {}),
        });
      };

    it('pages through all, or through as many as are asked for', async () => {
      service.respond = paged(2500);
      const all = await logs(['query', '--all']);
      expect(
        all.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).id),
      ).to.have.length(2500);
      expect(service.asked).to.have.length(3);
      const some = await logs(['query', '-n', '1200']);
      expect(some.stdout.trim().split('\n')).to.have.length(1200);
      expect(service.asked.at(-1)?.query.get('limit')).to.equal('200');
    });

    it('ends quietly when its reader has read enough', async () => {
      service.respond = paged(1_000_000);
      const running = start(['logs', 'query', '--all', '--url', service.url], { cwd: directory.path });
      await running.printed(/order 1/);
      running.process.stdout?.destroy();
      expect(await running.ended).to.deep.include({ code: 0, stderr: '' });
      expect(service.asked.length).to.be.lessThan(100);
    });

    it('gives numbers as they came, to programs and to people', async () => {
      const json = JSON.stringify(entry(1)).replace(
        '"id":1}',
        '"id":9007199254740993,"n":[12345678901234567890]}',
      );
      service.respond = ({ path: asked }, response) => {
        if (asked === '/api/logs') return response.end(`{"entries":[${json},${json}],"hasMore":false}`);
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        return response.write(`id: 1\ndata: ${json}\n\n`);
      };
      expect((await logs(['query', '--json'])).stdout).to.equal(`${json}\n${json}\n`);
      expect(shaped(pretty, json)).to.include('id=9007199254740993').and.include('12345678901234567890');
      const running = start(['logs', 'tail', '-n', '0', '--url', service.url], { cwd: directory.path });
      await running.printed(/9007199254740993/);
      running.process.kill('SIGINT');
      expect((await running.ended).stdout).to.equal(`${json}\n`);
    });

    it('shows lines for people, in which a record can not move the cursor', () => {
      const message = 'paid \u001b[2J\u0007\nagain\u202e';
      const line = pretty({ ...entry(7, { level: 'ERROR', message, producerId: 'web' }) });
      // Colours, if there are any, are ours.
      expect(line.slice(0, -1).replaceAll('\u001b[', '')).not.to.match(/[\p{Cc}\u202e]/u);
      expect(line)
        .to.include('paid \\u001b[2J\\u0007\\nagain\\u202e')
        .and.include('id=7')
        .and.include('[web]');
    });

    it('says in one line what is wrong, and exits with it', async () => {
      service.respond = (_, response) => json(response, 400, { error: 'field must not be empty' });
      const [refused, counted, followed, gone, ...wrong] = await Promise.all([
        logs(['query', '--level', 'x']),
        logs(['aggregate', '--by', 'time', '--interval', 'often']),
        logs(['tail', '-n', '0', '--level', 'x']),
        run(['logs', 'query', '--url', 'http://127.0.0.1:9']),
        logs(['query', '--field', 'novalue']),
        logs(['query', '--limit', '0']),
        run(['logs', 'query', '--url', 'nonsense']),
      ]);
      for (const each of [refused, counted, followed]) {
        expect(each).to.deep.equal({
          code: 2,
          stdout: '',
          stderr: 'annals: the log service refused: field must not be empty (400)\n',
        });
      }
      expect(wrong.map(({ code }) => code)).to.deep.equal([2, 2, 2]);
      expect(gone.code).to.equal(1);
      expect(gone.stderr).to.match(/^annals: no answer from http:\/\/127\.0\.0\.1:9 \(.+\)\n$/);
    });

    it('finds the service and its token in the configuration of the place', async () => {
      service.respond = (_, response) => json(response, 200, { entries: [] });
      const { port } = new URL(service.url);
      const env = { ANNALS_LOGS_PORT: port, ANNALS_HOST: '0.0.0.0', ANNALS_LOGS_API_TOKEN: 'let-me-in' };
      const [{ code, stderr }, unknown] = await Promise.all([
        run(['logs', 'query'], '', { cwd: directory.path, env }),
        run(['logs', 'query'], '', { env: { ANNALS_LOGS_PORT: '0' } }),
      ]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(service.asked.map(({ headers }) => headers.authorization)).to.deep.equal(['Bearer let-me-in']);
      expect(unknown.stderr).to.match(/^annals: logs\.port is picked when the service starts: give --url\n$/);
    });

    it('says who is asking: a token, or a name and password in the address', async () => {
      service.respond = (_, response) => json(response, 200, { entries: [] });
      await Promise.all([
        logs(['query', '--token', 'let-me-in']),
        run(['logs', 'query', '--url', service.url.replace('//', '//ada:p%40ss@')]),
      ]);
      expect(service.asked.map(({ headers }) => headers.authorization)).to.have.members([
        'Bearer let-me-in',
        `Basic ${Buffer.from('ada:p@ss').toString('base64')}`,
      ]);
    });
  });

  describe('aggregate', () => {
    it('counts by a kind, or by any field', async () => {
      service.respond = (_, response) =>
        json(response, 200, { groupBy: 'level', buckets: [{ key: 'INFO', count: 3 }], total: 3 });
      const [{ stdout }] = await Promise.all([
        logs(['aggregate']),
        logs(['aggregate', '--by', 'time', '--interval', '1h', '--limit', '5']),
        logs(['aggregate', '--by', 'user.id']),
      ]);
      expect(stdout).to.equal('{"key":"INFO","count":3}\n');
      expect(service.asked.map(({ query }) => Object.fromEntries(query))).to.have.deep.members([
        { groupBy: 'level' },
        { groupBy: 'time', interval: '1h', limit: '5' },
        { groupBy: 'field', groupField: 'user.id' },
      ]);
    });
  });

  describe('tail', () => {
    it('shows the newest, then what comes, and goes on where a broken connection ended', async () => {
      let streams = 0;
      service.respond = ({ path: asked, headers }, response) => {
        if (asked === '/api/logs')
          return json(response, 200, { entries: [entry(2), entry(1)] }, { Position: '17' });
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        if (++streams === 1) {
          response.write(
            `:\n\nid: 18\ndata: ${JSON.stringify(entry(3))}\n\ndata: ${JSON.stringify(entry(4))}\n\nid: 19\ndata: {"cut`,
          );
          setImmediate(() => response.destroy());
        } else if (headers['last-event-id'] === '18') {
          response.write([4, 5].map((id) => `data: ${JSON.stringify(entry(id))}\n\n`).join(''));
        }
        return undefined;
      };
      const running = start(['logs', 'tail', '-n', '2', '--url', service.url], { cwd: directory.path });
      await running.printed(/order 5/);
      running.process.kill('SIGINT');
      const { code, stdout } = await running.ended;
      expect(code).to.equal(130);
      expect(
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).message),
      ).to.deep.equal(['order 1', 'order 2', 'order 3', 'order 4', 'order 5']);
      const [, first] = service.asked;
      expect(first?.headers['last-event-id']).to.equal('17');
    });

    it('comes back to a service that has answered, however the connection ends', async () => {
      let streams = 0;
      service.respond = ({ path: asked }, response) => {
        if (asked === '/api/logs') return json(response, 200, { entries: [entry(1)] }, { Position: '17' });
        if (++streams < 3) return response.destroy();
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        return response.write(`data: ${JSON.stringify(entry(2))}\n\n`);
      };
      const running = start(['logs', 'tail', '-n', '1', '--url', service.url], { cwd: directory.path });
      await running.printed(/order 2/);
      running.process.kill('SIGINT');
      expect((await running.ended).code).to.equal(130);
    });

    it('ends at the first Ctrl-C, whatever was collected from memory since it began', async () => {
      service.respond = (_, response) =>
        response
          .writeHead(200, { 'Content-Type': 'text/event-stream' })
          .write(`data: ${JSON.stringify(entry(1))}\n\n`);
      const running = start(['logs', 'tail', '-n', '0', '--url', service.url], {
        cwd: directory.path,
        env: { NODE_OPTIONS: `--import ${COLLECTING}` },
      });
      await running.printed(/order 1/);
      running.process.kill('SIGUSR2');
      await running.printed(/collected/);
      running.process.kill('SIGINT');
      expect((await running.ended).code).to.equal(130);
    });

    it('does not begin with a number of records that is none', async () => {
      const refused = async (lines: string) => {
        const { code, stderr } = await logs(['tail', `--lines=${lines}`]);
        expect({ code, stderr }).to.deep.equal({
          code: 2,
          stderr: `annals: option '-n, --lines <count>' argument '${lines}' is invalid. It must be a whole number of at least 0.\n`,
        });
      };
      await Promise.all(['x', '-1', '1.5'].map(refused));
      expect(service.asked).to.deep.equal([]);
    });

    it('does not wait for a service that refuses', async () => {
      service.respond = (_, response) => json(response, 401, { error: 'Who are you?' });
      const { code, stderr } = await logs(['tail']);
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: 'annals: the log service refused: Who are you? (401)\n',
      });
    });
  });

  describe('import', () => {
    const numbered = (count: number) =>
      Array.from({ length: count }, (_, index) => `{"n":${index}}\n`).join('');
    const bodies = () => service.asked.map(({ body }) => body);

    it('sends files in batches, each under a key of its own', async () => {
      writeFileSync(path('a.ndjson'), numbered(2500));
      writeFileSync(path('b.ndjson.gz'), gzipSync(numbered(10)));
      const { code, stderr } = await logs(['import', path('a.ndjson'), path('b.ndjson.gz')]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: 'annals: 2,510 records imported\n' });
      expect(bodies().join('').split('\n')).to.have.length(2511);
      const keys = service.asked.map(({ headers }) => headers['idempotency-key']);
      expect(new Set(keys).size).to.equal(4);
      await logs(['import', path('a.ndjson'), path('b.ndjson.gz')]);
      const again = service.asked.slice(4).map(({ headers }) => headers['idempotency-key']);
      expect(again).to.have.members(keys);
    });

    it('sends what comes in a pipe soon, the last line without an end too', async () => {
      const running = start(['logs', 'import', '-', '--url', service.url], { cwd: directory.path });
      const came = (count: number) =>
        new Promise<void>((resolve) => {
          const { respond } = service;
          service.respond = (asked, response, number) => {
            respond(asked, response, number);
            if (number >= count) resolve();
          };
        });
      const first = came(1);
      running.process.stdin?.write('{"n":1}\n{"n":');
      await first;
      expect(bodies()).to.deep.equal(['{"n":1}\n']);
      running.process.stdin?.end('2}');
      expect((await running.ended).code).to.equal(0);
      expect(bodies()).to.deep.equal(['{"n":1}\n', '{"n":2}\n']);
    });

    it('takes what pino writes into a pipe', async () => {
      const running = start(['logs', 'import', '--url', service.url], { cwd: directory.path });
      const script = `import pino from 'pino';
        const log = pino({ base: { app: 'shop' } });
        for (let n = 0; n < 1500; n++) log.info({ n }, 'order paid');
        log.error(new Error('out of stock'), 'order failed');`;
      const app = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: process.cwd() });
      app.stdout.pipe(running.process.stdin ?? process.stdout);
      const { code, stderr } = await running.ended;
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: 'annals: 1,501 records imported\n' });
      const records = bodies().flatMap((body) =>
        body
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      );
      expect(records.slice(0, -1).map(({ n }) => n)).to.deep.equal(Array.from({ length: 1500 }, (_, n) => n));
      expect(records.at(-1)).to.include({ level: 50, app: 'shop', msg: 'order failed' });
    });

    it('needs no dash behind a pipe', async () => {
      expect((await logs(['import'], '{"n":1}\n')).stderr).to.equal('annals: 1 record imported\n');
    });

    it('sends again what was not taken, under the same key', async () => {
      service.respond = (asked, response, count) => {
        if (count === 1) json(response, 503, { error: 'Not now' });
        else if (count === 2) json(response, 429, { error: 'Slow down' });
        else if (count === 3) response.destroy();
        else takeAll(asked, response);
      };
      const { code, stderr } = await logs(['import', '-'], '{"n":1}\n');
      expect(code).to.equal(0);
      expect(stderr)
        .to.match(/Not now \(503\), trying again/)
        .and.match(/1 record imported/);
      expect(new Set(service.asked.map(({ headers }) => headers['idempotency-key'])).size).to.equal(1);
      expect(new Set(bodies()).size).to.equal(1);
    });

    it('tells of rejected lines by their place, goes on, and exits with 3', async () => {
      writeFileSync(path('a.ndjson'), `{"n":1}\n\nnonsense\n{"long":"${'x'.repeat(1_100_000)}"}\n{"n":2}\n`);
      const { code, stderr } = await logs(['import', 'a.ndjson']);
      expect(code).to.equal(3);
      expect(stderr.split('\n').slice(0, -1)).to.have.members([
        'annals: a.ndjson:3: it is not a JSON object',
        'annals: a.ndjson:4: the line is too long',
        'annals: 2 records imported, 2 rejected',
      ]);
    });

    it('goes on after a batch that is refused or not taken in time, and exits with 1', async () => {
      writeFileSync(path('a.ndjson'), numbered(3000));
      service.respond = (asked, response) => {
        if (asked.body.includes('"n":0}')) json(response, 400, { error: 'Not this one' });
        else if (asked.body.includes('"n":1000}')) json(response, 503, { error: 'Not now' });
        else takeAll(asked, response);
      };
      const { code, stderr } = await logs(['import', 'a.ndjson', '--patience', '1']);
      expect(code).to.equal(1);
      expect(stderr).to.match(/1000 lines of a\.ndjson were not sent: .*Not this one/);
      expect(stderr).to.match(/1,000 records imported, 2,000 not sent\n$/);
    });

    it('ends at once when it is not let in', async () => {
      writeFileSync(path('a.ndjson'), numbered(9000));
      service.respond = (_, response) => json(response, 401, { error: 'Who are you?' });
      const { code, stderr } = await logs(['import', 'a.ndjson']);
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: 'annals: the log service refused: Who are you? (401)\n',
      });
      expect(service.asked.length).to.be.lessThan(9);
    });

    it('passes over files it can not read, and exits with 1', async () => {
      mkdirSync(path('folder'));
      writeFileSync(path('a.ndjson'), numbered(1));
      writeFileSync(path('b.ndjson.gz'), 'not gzip');
      const { code, stderr } = await logs(['import', 'missing.ndjson', 'folder', 'b.ndjson.gz', 'a.ndjson']);
      expect(code).to.equal(1);
      expect(stderr)
        .to.match(/missing\.ndjson can't be read/)
        .and.match(/folder can't be read: it is a directory/);
      expect(stderr)
        .to.match(/b\.ndjson\.gz can't be read/)
        .and.match(/1 record imported\n$/);
    });

    it('sends what it has when it is interrupted', async () => {
      const running = start(['logs', 'import', '-', '--url', service.url], { cwd: directory.path });
      const sent = new Promise<void>((resolve) => {
        service.respond = (asked, response) => {
          takeAll(asked, response);
          resolve();
        };
      });
      running.process.stdin?.write('{"n":1}\n');
      await sent;
      running.process.stdin?.write('{"n":2}\n');
      running.process.kill('SIGINT');
      const { code, stderr } = await running.ended;
      expect({ code, stderr }).to.deep.equal({ code: 130, stderr: 'annals: 2 records imported\n' });
    });
  });
});
