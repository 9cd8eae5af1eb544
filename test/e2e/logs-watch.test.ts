/** Watched log files: growing, truncated, rotated, half-written, and a service that is killed while it reads them. */
import { appendFileSync, mkdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { temporaryDirectory } from '../support/engines.js';
import { logClient } from '../support/log-client.js';
import { type Server, startServer } from '../support/server.js';

describe('a watched directory', () => {
  const directory = temporaryDirectory();
  const watched = join(directory.path, 'watched');
  const data = join(directory.path, 'data');
  let server: Server;

  const start = async () => {
    server = await startServer(data, ['--logs-watch', watched]);
  };
  const numbers = async (producer: string) => {
    const entries = await logClient(server.urls.logs ?? '').all(`producer=${producer}&order=asc`);
    return entries.map((entry) => entry.data.n as number);
  };
  const settles = async (producer: string, expected: readonly number[]) => {
    for (let tries = 0; tries < 400; tries++) {
      if ((await numbers(producer)).length >= expected.length) break;
      await delay(25);
    }
    expect((await numbers(producer)).toSorted((a, b) => a - b)).to.deep.equal(expected);
  };
  const path = (name: string) => join(watched, name);
  const lines = (from: number, to: number, more: object = {}) =>
    range(from, to)
      .map((n) => `${JSON.stringify({ n, time: 1_763_719_200_000 + n, ...more })}\n`)
      .join('');
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

  before(async () => {
    mkdirSync(watched);
    writeFileSync(path('old.ndjson'), lines(0, 50));
    await start();
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  it('is read from the beginning, and on as it grows', async () => {
    await settles('old', range(0, 50));
    appendFileSync(path('old.ndjson'), lines(50, 60));
    await settles('old', range(0, 60));
  });

  it('gives half a line only when it is whole', async () => {
    const whole = lines(1, 2);
    writeFileSync(path('half.ndjson'), lines(0, 1) + whole.slice(0, 7));
    await settles('half', [0]);
    appendFileSync(path('half.ndjson'), whole.slice(7));
    await settles('half', [0, 1]);
  });

  it('is followed over rotation, by renaming and by truncation', async () => {
    writeFileSync(path('app.ndjson'), lines(0, 10));
    await settles('app', range(0, 10));
    appendFileSync(path('app.ndjson'), lines(10, 20));
    renameSync(path('app.ndjson'), path('app.ndjson.1'));
    writeFileSync(path('app.ndjson'), lines(20, 25));
    await settles('app', range(0, 25));
    truncateSync(path('app.ndjson'), 0);
    appendFileSync(path('app.ndjson'), lines(25, 27));
    await settles('app', range(0, 27));
    appendFileSync(path('app.ndjson.1'), lines(27, 28));
    await settles('app', range(0, 28));
  });

  it('is read past lines that are no records, and past bytes that are no text', async () => {
    const broken = Buffer.concat([
      Buffer.from(lines(0, 2)),
      Buffer.from([0xff, 0xfe, 0x00, 0x0a]),
      Buffer.from('{"n":\n'),
      Buffer.from(`{"n":9,"text":"${'x'.repeat(70_000)}"}\n`),
      Buffer.alloc(1_200_000, 'y'),
      Buffer.from('\n'),
      Buffer.from(lines(2, 4)),
    ]);
    writeFileSync(path('broken.ndjson'), broken);
    await settles('broken', range(0, 4));
    appendFileSync(path('broken.ndjson'), lines(4, 5));
    await settles('broken', range(0, 5));
  });

  it('is read once, whenever the service is killed', async () => {
    let written = 0;
    const grow = (to: number) => {
      appendFileSync(path('busy.ndjson'), lines(written, to) + lines(to, to + 1, { audit: true }));
      written = to + 1;
    };
    grow(2000);
    for (let round = 0; round < 3; round++) {
      const least = (await numbers('busy')).length;
      grow(written + 4000);
      while ((await numbers('busy')).length === least) await delay(2);
      await server.stop('SIGKILL');
      grow(written + 500);
      await start();
    }
    await settles('busy', range(0, written));
  }).timeout(120_000);
});
