/** Tests truncated store files: refused if a page in use is missing, accepted if only freed pages are. */
import { copyFileSync, mkdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { appendRecord, openStore, readPosition, type Store } from '../../eventstore/log/store.js';
import { StoreDamaged } from '../../supervisor/store-check.js';
import { temporaryDirectory } from '../support/engines.js';

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

  function openCut(bytes: number, path = whole): Store | undefined {
    rmSync(cut, { recursive: true, force: true });
    mkdirSync(join(cut, 'log'), { recursive: true });
    copyFileSync(fileOf(path), fileOf(cut));
    truncateSync(fileOf(cut), statSync(fileOf(cut)).size - bytes);
    try {
      return openStore(cut);
    } catch (error) {
      expect(error, `${bytes} bytes`).instanceOf(StoreDamaged);
      return undefined;
    }
  }
  const positionsIn = ({ log }: Store) =>
    Array.from(log.getRange(), ({ key, value }) => {
      const position = readPosition(key);
      expect(value.equals(record(position)), `${position}`).to.equal(true);
      return position;
    });

  it('is refused if it is shorter by any number of bytes', async () => {
    const store = openCut(0);
    expect(positionsIn(store!)).to.have.length(LONG);
    await close(store!);
    for (const bytes of [1, 100, 4096, 8192, 12_288, 65_536, 200_000])
      expect(openCut(bytes), `${bytes} bytes`).to.equal(undefined);
  });

  it('is refused if only the table of free pages is missing', async () => {
    const small = join(directory.path, 'small');
    mkdirSync(small);
    const store = openStore(small);
    for (let times = 0; times < 3; times++) {
      appendRecord(store, times, record(times).subarray(0, 100));
      await store.environment.flushed;
    }
    await close(store);
    expect(openCut(1, small)).to.equal(undefined);
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
      const open = openCut(5 * 8192, shrunk);
      if (open) {
        await close(open);
        break;
      }
    }
    let accepted = 0;
    for (let pages = 1; ; pages++) {
      const open = openCut(pages * 8192, shrunk);
      if (!open) break;
      accepted++;
      expect(positionsIn(open)).to.deep.equal(retained);
      for (let position = LONG; position < LONG + 5; position++) {
        appendRecord(open, position, record(position));
        await open.environment.flushed;
      }
      expect(positionsIn(open)).to.have.length(retained.length + 5);
      await close(open);
    }
    expect(accepted).to.be.at.least(5);
  });
});
