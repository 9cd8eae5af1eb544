/** Watched log files: growing, truncated, rotated, with partial lines, and with the service killed while reading. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { logClient } from '../support/log-client.js';
import { type Server, startServer } from '../support/server-process.js';

describe('a watched directory', () => {
  const directory = temporaryDirectory();
  const watched = join(directory.path, 'watched');
  const later = join(directory.path, 'later');
  const data = join(directory.path, 'data');
  let server: Server;

  const start = async () => {
    server = await startServer(data, ['logs', '--logs-watch', `${watched},${later}`]);
  };
  const numbers = async (producer: string) => {
    const entries = await logClient(server.urls.logs ?? '').all(`producer=${producer}&order=asc`);
    return entries.map((entry) => entry.data.n as number);
  };
  /** Counts records; cheaper to poll than to read them. */
  const count = async (producer: string) => {
    const path = `/api/logs/aggregate?groupBy=level&producer=${producer}`;
    return (await logClient(server.urls.logs ?? '').ask<{ total: number }>('GET', path)).body.total;
  };
  const settles = async (producer: string, expected: readonly number[]) => {
    await eventually(async () => (await count(producer)) >= expected.length);
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

  it('is read from the beginning and followed as it grows', async () => {
    await settles('old', range(0, 50));
    appendFileSync(path('old.ndjson'), lines(50, 60));
    await settles('old', range(0, 60));
  });

  it('yields a partial line only once it is complete', async () => {
    const whole = lines(1, 2);
    writeFileSync(path('half.ndjson'), lines(0, 1) + whole.slice(0, 7));
    await settles('half', [0]);
    appendFileSync(path('half.ndjson'), whole.slice(7));
    await settles('half', [0, 1]);
  });

  it('is followed across rotation by renaming and by truncation', async () => {
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

  it('is read from the beginning after truncation, even if the first line is the same', async () => {
    const first = lines(0, 1);
    writeFileSync(path('cut.ndjson'), first + lines(1, 10));
    await settles('cut', range(0, 10));
    truncateSync(path('cut.ndjson'), 0);
    appendFileSync(path('cut.ndjson'), first + lines(10, 12));
    await settles('cut', [0, ...range(0, 12)]);
  });

  it('identifies a file by its first line, also when another file had its inode', async () => {
    // An overwritten file keeps its inode, as a new file may reuse that of a deleted one.
    writeFileSync(path('reused.ndjson'), lines(0, 3));
    await settles('reused', range(0, 3));
    writeFileSync(path('reused.ndjson'), lines(3, 10));
    await settles('reused', range(0, 10));
  });

  it('includes subfolders, and file endings in any case', async () => {
    mkdirSync(path('deep/er'), { recursive: true });
    writeFileSync(path('deep/er/below.ndjson'), lines(0, 2));
    writeFileSync(path('LOUD.NDJSON'), lines(0, 3));
    await settles('below', range(0, 2));
    await settles('LOUD', range(0, 3));
    appendFileSync(path('deep/er/below.ndjson'), lines(2, 4));
    await settles('below', range(0, 4));
  });

  it('skips directories and FIFOs that are named like files', async () => {
    mkdirSync(path('a-directory.ndjson'));
    execFileSync('mkfifo', [path('a-fifo.ndjson')]);
    writeFileSync(path('a-directory.ndjson/inside.ndjson'), lines(0, 1));
    writeFileSync(path('z-behind.ndjson'), lines(0, 2));
    await settles('z-behind', range(0, 2));
    await settles('inside', range(0, 1));
  });

  it('is reported once while missing, and read when it appears', async () => {
    const warnings = () => server.lines.filter((line) => line.includes('cannot be read') && line.includes(later));
    await eventually(() => warnings().length > 0);
    mkdirSync(later);
    writeFileSync(join(later, 'later.ndjson'), lines(0, 2));
    await settles('later', range(0, 2));
    expect(warnings()).to.have.length(1);
    expect(server.lines.filter((line) => line.includes('is readable again'))).to.have.length(1);
  });

  it('skips lines that are not records and bytes that are not text', async () => {
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

  it('is read exactly once, whenever the service is killed', async () => {
    let written = 0;
    const grow = (to: number) => {
      appendFileSync(path('busy.ndjson'), lines(written, to) + lines(to, to + 1, { audit: true }));
      written = to + 1;
    };
    grow(2000);
    for (let round = 0; round < 2; round++) {
      const least = await count('busy');
      grow(written + 4000);
      await eventually(async () => (await count('busy')) > least);
      await server.stop('SIGKILL');
      grow(written + 500);
      await start();
    }
    await settles('busy', range(0, written));
  }).timeout(120_000);
});
