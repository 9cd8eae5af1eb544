/** Polling of watched files: idle files cost little, and no change is missed. */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createFileScanner, readNextLines } from '../../../adapters/filesystem/tail-file.js';

describe('polling watched files', () => {
  const { open } = fs;
  let directory: string;
  let opened = 0;

  beforeEach(async () => {
    directory = await fs.mkdtemp(join(tmpdir(), 'annals-watched-'));
    fs.open = (...args) => {
      opened++;
      return open(...args);
    };
    syncBuiltinESMExports();
  });
  afterEach(async () => {
    fs.open = open;
    syncBuiltinESMExports();
    await fs.rm(directory, { recursive: true });
  });

  const write = (name: string, text: string) => fs.writeFile(join(directory, name), text);

  /** Polls, reads new bytes, and counts opened files. */
  function createPoll() {
    const filesIn = createFileScanner();
    const offsets = new Map<string, number>();
    return async () => {
      const before = opened;
      const lines: string[] = [];
      const fail = (path: string, error: unknown) => expect.fail(`${path}: ${error}`);
      for await (const file of filesIn(directory, fail)) {
        let at = offsets.get(file.id) ?? 0;
        if (at > file.size) at = 0;
        const piece = at < file.size ? await readNextLines(file, at) : undefined;
        if (piece) lines.push(...piece.bytes.toString().trim().split('\n'));
        offsets.set(file.id, piece?.end ?? at);
      }
      return { lines, opened: opened - before };
    };
  }
  const idle = { lines: [], opened: 0 };

  it('opens only changed files and reads each of them', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `${index + 10}.ndjson`);
    for (const name of names) await write(name, `{"first of":"${name}"}\n`);
    const look = createPoll();
    expect((await look()).lines).to.have.length(20);
    await eventually(async () => expect(await look()).to.deep.equal(idle));

    await fs.appendFile(join(directory, '12.ndjson'), '{"more":1}\n');
    expect(await look()).to.deep.equal({ lines: ['{"more":1}'], opened: 1 });
    await write('13.ndjson', '{"cut off and":"begun"}\n');
    expect((await look()).lines).to.deep.equal(['{"cut off and":"begun"}']);
    await fs.rename(join(directory, '14.ndjson'), join(directory, '14.ndjson.1'));
    await write('14.ndjson', '{"rotated":1}\n');
    expect((await look()).lines).to.deep.equal(['{"rotated":1}']);
    await eventually(async () => expect(await look()).to.deep.equal(idle));
  });

  it('treats a different first line as another file, whatever its path and length', async () => {
    await write('a.ndjson', '{"one":1}\n');
    const look = createPoll();
    expect((await look()).lines).to.deep.equal(['{"one":1}']);
    await fs.appendFile(join(directory, 'a.ndjson'), '{"one":2}\n');
    expect((await look()).lines).to.deep.equal(['{"one":2}']);
    // Looks like a reused inode, or a file truncated and grown again between two polls.
    await write('a.ndjson', '{"new":1}\n{"new":2}\n{"new":3}\n');
    expect((await look()).lines).to.deep.equal(['{"new":1}', '{"new":2}', '{"new":3}']);
  });

  it('reads nothing of a file that took over the path of the found one', async () => {
    await write('a.ndjson', '{"one":1}\n');
    for await (const file of createFileScanner()(directory, () => {})) {
      await fs.rename(join(directory, 'a.ndjson'), join(directory, 'gone'));
      await write('a.ndjson', '{"other":1}\n{"other":2}\n');
      // Its handle is open already, to the original file.
      expect((await readNextLines(file, 0))?.bytes.toString()).to.equal('{"one":1}\n');
    }
    const filesIn = createFileScanner();
    await eventually(async () => {
      const before = opened;
      for await (const _ of filesIn(directory, () => {}));
      return opened === before;
    });
    for await (const file of filesIn(directory, () => {})) {
      await fs.rename(join(directory, 'a.ndjson'), join(directory, 'gone'));
      await write('a.ndjson', '{"third":1}\n{"third":2}\n');
      expect(await readNextLines(file, 0)).to.equal(undefined);
    }
  });
});
