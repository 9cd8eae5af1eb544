/** Tests truncated store files: refused if a page in use is missing, accepted if only freed pages are. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { appendRecord, openStore, readPosition, type Store } from '../../eventstore/log/store.js';
import { StoreDamaged } from '../../supervisor/store-check.js';
import { temporaryDirectory } from '../support/engines.js';

const STORE = new URL('../../eventstore/log/store.js', import.meta.url);

describe('the file of a store', () => {
  const directory = temporaryDirectory();
  const whole = join(directory.path, 'whole');
  const cut = join(directory.path, 'cut');
  const fileOf = (path: string) => join(path, 'log', 'data.mdb');
  /** Longer than a page. */
  const record = (position: number) => Buffer.alloc(10_000, position);
  const LONG = 40;
  const retained = Array.from({ length: 10 }, (_, position) => position);

  before(async () => {
    const store = openStore(whole);
    for (let position = 0; position < LONG; position++) {
      appendRecord(store, position, record(position));
      await store.environment.flushed;
    }
    await close(store);
  });
  after(() => directory.remove());

  async function close({ environment, file }: Store) {
    file.close();
    await environment.close();
  }

  function cutFile(bytes: number, path = whole): void {
    rmSync(cut, { recursive: true, force: true });
    mkdirSync(join(cut, 'log'), { recursive: true });
    copyFileSync(fileOf(path), fileOf(cut));
    truncateSync(fileOf(cut), statSync(fileOf(cut)).size - bytes);
  }
  /** Signal that ends a process which opens the cut store, or null if it opens it. */
  function openInChild(): string | null {
    const open = `import { openStore } from ${JSON.stringify(STORE)}; openStore(process.argv[1]);`;
    const { status, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', open, cut]);
    expect(status === 0 || signal !== null).to.equal(true);
    return signal;
  }
  const positionsIn = ({ log }: Store) =>
    Array.from(log.getRange(), ({ key, value }) => {
      const position = readPosition(key);
      expect(value.equals(record(position)), `${position}`).to.equal(true);
      return position;
    });

  it('is refused if it ends inside a page', () => {
    for (const bytes of [1, 100, 4096, 12_288]) {
      cutFile(bytes);
      expect(() => openStore(cut), `${bytes} bytes`).to.throw(StoreDamaged, /cut short: restore/);
    }
  });

  it('ends the process that opens it if a page in use is missing', () => {
    for (const bytes of [8192, 65_536, 204_800]) {
      cutFile(bytes);
      expect(openInChild(), `${bytes} bytes`).to.equal('SIGBUS');
    }
  });

  it('may end before freed pages', async () => {
    const shrunk = join(directory.path, 'shrunk');
    mkdirSync(join(shrunk, 'log'), { recursive: true });
    copyFileSync(fileOf(whole), fileOf(shrunk));
    const store = openStore(shrunk);
    for (const key of Array.from(store.log.getKeys()).slice(retained.length)) store.log.remove(key);
    await store.environment.flushed;
    await close(store);
    // Rewrites both tables until their pages have moved to freed ones at the front; how soon depends on lmdb's timing.
    for (let times = 0; times < 50; times++) {
      const again = openStore(shrunk);
      again.notes.put(Buffer.from('note'), Buffer.from([times]));
      appendRecord(again, LONG, Buffer.alloc(1));
      await again.environment.flushed;
      for (const key of Array.from(again.log.getKeys()).slice(retained.length)) again.log.remove(key);
      await again.environment.flushed;
      await close(again);
      cutFile(5 * 8192, shrunk);
      if (openInChild() === null) break;
    }
    const open = openStore(cut);
    expect(positionsIn(open)).to.deep.equal(retained);
    for (let position = LONG; position < LONG + 5; position++) {
      appendRecord(open, position, record(position));
      await open.environment.flushed;
    }
    expect(positionsIn(open)).to.have.length(retained.length + 5);
    await close(open);
  });
});
