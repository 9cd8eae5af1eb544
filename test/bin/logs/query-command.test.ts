/** `annals logs query` and `aggregate` as processes: requests, output and exit codes. */
import { expect } from 'chai';
import { formatEntry, pretty } from '../../../bin/commands/logs/format.js';
import { run, start } from '../../support/server-process.js';
import { entry, json, type LogService, useAnnalsLogs } from './fake-log-service.js';

describe('annals logs query', () => {
  const annals = useAnnalsLogs();
  const { logs } = annals;

  it('rejects a token that no header can carry, without a request', async () => {
    const { code, stderr } = await logs(['query', '--token', 'länger\nals gut']);
    expect(code).to.equal(2);
    expect(stderr).to.match(/^annals: option '--token <token>' argument .* is invalid. It must be visible/s);
    expect(annals.service.requests).to.deep.equal([]);
  });

  it('sends every filter and prints NDJSON into a pipe', async () => {
    annals.service.respond = (_, response) => json(response, 200, { entries: [entry(2), entry(1)], hasMore: false });
    const flags = ['--from', '2026-11-21', '--to', '1795262400000', '-l', 'ERROR,FATAL', '--event', 'order.paid'];
    const more = ['--producer', 'web', '--correlation', 'c1', '--field', 'user.id=4=2', '--field', 'a=', '--audit'];
    const { code, stdout, stderr } = await logs(['query', 'two', 'words', ...flags, ...more, '--order', 'asc']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).to.deep.equal([entry(2), entry(1)]);
    expect(annals.service.requests[0]?.path).to.equal('/api/logs');
    expect([...(annals.service.requests[0]?.query ?? [])]).to.have.deep.members([
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

  it('accepts relative times', async () => {
    annals.service.respond = (_, response) => json(response, 200, { entries: [], hasMore: false });
    await logs(['query', '--from', '2h']);
    const from = Number(annals.service.requests[0]?.query.get('from'));
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

  it('fetches all pages, or as many records as requested', async () => {
    annals.service.respond = paged(2500);
    const all = await logs(['query', '--all']);
    expect(
      all.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).to.have.length(2500);
    expect(annals.service.requests).to.have.length(3);
    const some = await logs(['query', '-n', '1200']);
    expect(some.stdout.trim().split('\n')).to.have.length(1200);
    expect(annals.service.requests.at(-1)?.query.get('limit')).to.equal('200');
  });

  it('ends quietly when its reader closes the pipe', async () => {
    annals.service.respond = paged(1_000_000);
    const running = start(['logs', 'query', '--all', '--url', annals.service.url], {
      cwd: annals.directory.path,
    });
    await running.printed(/order 1/);
    running.process.stdout?.destroy();
    expect(await running.ended).to.deep.include({ code: 0, stderr: '' });
    expect(annals.service.requests.length).to.be.lessThan(100);
  });

  it('prints numbers unchanged in both formats', async () => {
    const json = JSON.stringify(entry(1)).replace('"id":1}', '"id":9007199254740993,"n":[12345678901234567890]}');
    annals.service.respond = ({ path: requests }, response) => {
      if (requests === '/api/logs') return response.end(`{"entries":[${json},${json}],"hasMore":false}`);
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      return response.write(`id: 1\ndata: ${json}\n\n`);
    };
    expect((await logs(['query', '--json'])).stdout).to.equal(`${json}\n${json}\n`);
    expect(formatEntry(pretty, json)).to.include('id=9007199254740993').and.include('12345678901234567890');
    const running = start(['logs', 'tail', '-n', '0', '--url', annals.service.url], {
      cwd: annals.directory.path,
    });
    await running.printed(/9007199254740993/);
    running.process.kill('SIGINT');
    expect((await running.ended).stdout).to.equal(`${json}\n`);
  });

  it('prints lines on a terminal, without control sequences from records', () => {
    const message = 'paid \u001b[2J\u0007\nagain\u202e';
    const line = pretty({ ...entry(7, { level: 'ERROR', message, producerId: 'web' }) });
    // Colours, if any, are ours.
    expect(line.slice(0, -1).replaceAll('\u001b[', '')).not.to.match(/[\p{Cc}\u202e]/u);
    expect(line).to.include('paid \\u001b[2J\\u0007\\nagain\\u202e').and.include('id=7').and.include('[web]');
  });

  it('prints an error in one line and exits with its code', async () => {
    annals.service.respond = (_, response) => json(response, 400, { error: 'field must not be empty' });
    const [refused, counted, followed, gone, ...wrong] = await Promise.all([
      logs(['query', '--field', 'a=b']),
      logs(['aggregate', '--by', 'time', '--interval', '1h']),
      logs(['tail', '-n', '0', '--level', 'ERROR']),
      run(['logs', 'query', '--url', 'http://127.0.0.1:9']),
      logs(['query', '--field', 'novalue']),
      logs(['query', '--limit', '0']),
      run(['logs', 'query', '--url', 'nonsense']),
    ]);
    for (const each of [refused, counted, followed]) {
      expect(each).to.deep.equal({
        code: 2,
        stdout: '',
        stderr: 'annals: the log service answered: field must not be empty (400)\n',
      });
    }
    expect(wrong.map(({ code }) => code)).to.deep.equal([2, 2, 2]);
    expect(gone.code).to.equal(1);
    expect(gone.stderr).to.match(
      /^annals: no answer from http:\/\/127\.0\.0\.1:9 \(.+\); if the service is elsewhere, pass --url\n$/,
    );
  });

  it('lists valid values for an invalid option, without a request', async () => {
    const cases: [string[], RegExp][] = [
      [['query', '--level', 'eror'], /--level.*'eror' is invalid.* one of TRACE, DEBUG, INFO, .*ERROR, FATAL/],
      [['tail', '--level', 'ERROR,'], /--level.* one of TRACE, /],
      [['aggregate', '-l', 'ERROR,loud'], /'-l, --level.* one of TRACE, /],
      [['aggregate', '--by', 'levle'], /'--by <what>'.* level, event, producer, correlation, time, .*field:NAME/],
      [['aggregate', '--by', 'field:'], /'--by <what>'.* level, event, /],
      [['aggregate', '--by', 'time', '--interval', '1w'], /'--interval.* minutes, hours or a day: 1m to 1d/],
      [['aggregate', '--by', 'time', '--interval', '25h'], /'--interval.* 1m to 1d/],
      [['aggregate', '--interval', '1h'], /--interval can only be used with --by time/],
    ];
    await Promise.all(
      cases.map(async ([args, expected]) => {
        const { code, stdout, stderr } = await logs(args);
        expect([code, stdout], args.join(' ')).to.deep.equal([2, '']);
        expect(stderr)
          .to.match(expected)
          .and.match(/^annals: [^\n]+\n$/);
      }),
    );
    expect(annals.service.requests).to.deep.equal([]);
  });

  it('finds the service and its token in the local configuration', async () => {
    annals.service.respond = (_, response) => json(response, 200, { entries: [] });
    const { port } = new URL(annals.service.url);
    const env = { ANNALS_LOGS_PORT: port, ANNALS_HOST: '0.0.0.0', ANNALS_LOGS_API_TOKEN: 'let-me-in' };
    const [{ code, stderr }, unknown] = await Promise.all([
      run(['logs', 'query'], '', { cwd: annals.directory.path, env }),
      run(['logs', 'query'], '', { env: { ANNALS_LOGS_PORT: '0' } }),
    ]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(annals.service.requests.map(({ headers }) => headers.authorization)).to.deep.equal(['Bearer let-me-in']);
    expect(unknown.stderr).to.match(/^annals: logs\.port is chosen when the service starts; pass --url\n$/);
  });

  it('sends credentials: a token, or name and password from the address', async () => {
    annals.service.respond = (_, response) => json(response, 200, { entries: [] });
    await Promise.all([
      logs(['query', '--token', 'let-me-in']),
      run(['logs', 'query', '--url', annals.service.url.replace('//', '//ada:p%40ss@')]),
    ]);
    expect(annals.service.requests.map(({ headers }) => headers.authorization)).to.have.members([
      'Bearer let-me-in',
      `Basic ${Buffer.from('ada:p@ss').toString('base64')}`,
    ]);
  });
});

describe('annals logs aggregate', () => {
  const annals = useAnnalsLogs();
  const { logs } = annals;

  it('counts by a preset or by any field', async () => {
    annals.service.respond = (_, response) =>
      json(response, 200, { groupBy: 'level', buckets: [{ key: 'INFO', count: 3 }], total: 3 });
    const [{ stdout }] = await Promise.all([
      logs(['aggregate']),
      logs(['aggregate', '--by', 'time', '--interval', '1h', '--limit', '5']),
      logs(['aggregate', '--by', 'user.id']),
      logs(['aggregate', '--by', 'field:status']),
    ]);
    expect(stdout).to.equal('{"key":"INFO","count":3}\n');
    expect(annals.service.requests.map(({ query }) => Object.fromEntries(query))).to.have.deep.members([
      { groupBy: 'level' },
      { groupBy: 'time', interval: '1h', limit: '5' },
      { groupBy: 'field', groupField: 'user.id' },
      { groupBy: 'field', groupField: 'status' },
    ]);
  });
});
