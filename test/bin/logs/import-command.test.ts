/** `annals logs import` as a process: requests for files and pipes, and reports of rejected lines. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { start } from '../../support/server-process.js';
import { json, takeAll, useAnnalsLogs } from './fake-log-service.js';

describe('annals logs import', () => {
  const annals = useAnnalsLogs();
  const { logs, path } = annals;

  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `{"n":${index}}\n`).join('');
  const bodies = () => annals.service.requests.map(({ body }) => body);

  it('sends files in batches, each with an idempotency key', async () => {
    writeFileSync(path('a.ndjson'), numbered(2500));
    writeFileSync(path('b.ndjson.gz'), gzipSync(numbered(10)));
    const { code, stderr } = await logs(['import', path('a.ndjson'), path('b.ndjson.gz')]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: 'annals: 2,510 records imported\n' });
    expect(bodies().join('').split('\n')).to.have.length(2511);
    const keys = annals.service.requests.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).to.equal(4);
    await logs(['import', path('a.ndjson'), path('b.ndjson.gz')]);
    const again = annals.service.requests.slice(4).map(({ headers }) => headers['idempotency-key']);
    expect(again).to.have.members(keys);
  });

  it('sends piped input promptly, including a last line without newline', async () => {
    const running = start(['logs', 'import', '-', '--url', annals.service.url], {
      cwd: annals.directory.path,
    });
    const received = (count: number) =>
      new Promise<void>((resolve) => {
        const { respond } = annals.service;
        annals.service.respond = (requests, response, number) => {
          respond(requests, response, number);
          if (number >= count) resolve();
        };
      });
    const first = received(1);
    running.process.stdin?.write('{"n":1}\n{"n":');
    await first;
    expect(bodies()).to.deep.equal(['{"n":1}\n']);
    running.process.stdin?.end('2}');
    expect((await running.ended).code).to.equal(0);
    expect(bodies()).to.deep.equal(['{"n":1}\n', '{"n":2}\n']);
  });

  it('accepts piped pino output', async () => {
    const running = start(['logs', 'import', '--url', annals.service.url], { cwd: annals.directory.path });
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

  it('needs no dash to read a pipe', async () => {
    expect((await logs(['import'], '{"n":1}\n')).stderr).to.equal('annals: 1 record imported\n');
  });

  it('retries with the same key', async () => {
    annals.service.respond = (requests, response, count) => {
      if (count === 1) json(response, 503, { error: 'Not now' });
      else if (count === 2) json(response, 429, { error: 'Slow down' });
      else if (count === 3) response.destroy();
      else takeAll(requests, response);
    };
    const { code, stderr } = await logs(['import', '-'], '{"n":1}\n');
    expect(code).to.equal(0);
    expect(stderr)
      .to.match(/Not now \(503\), trying again/)
      .and.match(/1 record imported/);
    expect(new Set(annals.service.requests.map(({ headers }) => headers['idempotency-key'])).size).to.equal(1);
    expect(new Set(bodies()).size).to.equal(1);
  });

  it('reports rejected lines by file and line, continues, and exits with 3', async () => {
    writeFileSync(path('a.ndjson'), `{"n":1}\n\nnonsense\n{"long":"${'x'.repeat(1_100_000)}"}\n{"n":2}\n`);
    const { code, stderr } = await logs(['import', 'a.ndjson']);
    expect(code).to.equal(3);
    expect(stderr.split('\n').slice(0, -1)).to.have.members([
      'annals: a.ndjson:3: it is not a JSON object',
      'annals: a.ndjson:4: the line is too long',
      'annals: 2 records imported, 2 rejected',
    ]);
  });

  it('continues after a refused or timed-out batch and exits with 1', async () => {
    writeFileSync(path('a.ndjson'), numbered(3000));
    annals.service.respond = (requests, response) => {
      if (requests.body.includes('"n":0}')) json(response, 400, { error: 'Not this one' });
      else if (requests.body.includes('"n":1000}')) json(response, 503, { error: 'Not now' });
      else takeAll(requests, response);
    };
    const { code, stderr } = await logs(['import', 'a.ndjson', '--patience', '1']);
    expect(code).to.equal(1);
    expect(stderr).to.match(/1000 lines of a\.ndjson could not be sent: .*Not this one/);
    expect(stderr).to.match(/1,000 records imported, 2,000 not sent\n$/);
  });

  it('stops at once when unauthorised', async () => {
    writeFileSync(path('a.ndjson'), numbered(9000));
    annals.service.respond = (_, response) => json(response, 401, { error: 'Who are you?' });
    const { code, stderr } = await logs(['import', 'a.ndjson']);
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: 'annals: the log service answered: Who are you? (401)\n',
    });
    expect(annals.service.requests.length).to.be.lessThan(9);
  });

  it('skips unreadable files and exits with 1', async () => {
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

  it('sends pending lines when interrupted', async () => {
    const running = start(['logs', 'import', '-', '--url', annals.service.url], {
      cwd: annals.directory.path,
    });
    const sent = new Promise<void>((resolve) => {
      annals.service.respond = (requests, response) => {
        takeAll(requests, response);
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
