/** Tests that dropped data is removed from the embedded MongoDB's disk, even after a crash. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Catalog } from '../../mongo/storage/catalog.js';
import { GARBAGE, garbageKey, spaceEnd, spaceHead } from '../../mongo/storage/layout.js';
import { eventually } from '../support/condition.js';

describe('a dropped collection of the embedded MongoDB', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'annals-sweeping-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const open = () =>
    new Catalog(directory, (error) => {
      throw error;
    });
  const keysOf = (catalog: Catalog, space: number) => {
    const low = spaceHead(space);
    return [...catalog.store.keys({ low, high: spaceEnd(low), limit: 10_000 })].length;
  };

  it('is removed at the next start, and other collections are kept', async () => {
    const first = open();
    await first.create('toys.boxes');
    const { space } = first.find('toys.boxes')!;
    // State after a drop and a crash: the garbage entry is stored and all keys still exist.
    await first.store.write(() => {
      for (let n = 0; n < 2000; n++) {
        const key = Buffer.alloc(4);
        key.writeUInt32BE(n);
        first.store.put(Buffer.concat([spaceHead(space + 1), key]), Buffer.from('x'));
      }
      first.store.put(garbageKey(space + 1), Buffer.alloc(0));
      return true;
    });
    await first.close();

    const second = open();
    await second.create('toys.others');
    expect(second.find('toys.others')!.space).to.be.greaterThan(space + 1);
    await eventually(() => keysOf(second, space + 1) === 0 && [...second.store.keys(GARBAGE)].length === 0);
    expect(second.find('toys.boxes')).not.to.equal(undefined);
    await second.close();
  });
});
