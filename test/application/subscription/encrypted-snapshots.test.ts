/** Snapshots in which what tells of somebody is sealed, many parts together, and all else is as it was written. */
import { expect } from 'chai';
import { encryptSnapshots, type SnapshotVault } from '../../../application/subscription/encrypted-snapshots.js';
import { snapshotsInMemory } from '../../support/memory-ports.js';

/** A seal that only turns bytes around, and how many are sealed and opened at once. */
function counted() {
  const most = { now: 0, ever: 0 };
  const turned = async (_: string, bytes: Uint8Array) => {
    most.now++;
    most.ever = Math.max(most.ever, most.now);
    await new Promise(setImmediate);
    most.now--;
    return Buffer.from(bytes).reverse();
  };
  return { most, seal: { sealBytes: turned, openBytes: turned } as unknown as SnapshotVault };
}

describe('the sealed parts of a snapshot', () => {
  it('are what they were, in order, and are sealed and opened by the hundred', async () => {
    for (const count of [0, 1, 100, 101, 250]) {
      const { most, seal } = counted();
      const { snapshots, kept } = snapshotsInMemory();
      const parts = Array.from({ length: count }, (_, id) => ({
        subject: `s${id}`,
        secret: { name: 'Ann' },
      }));
      await encryptSnapshots(snapshots, seal).write('toys', 1, 10n, parts);
      expect(most.ever).to.equal(Math.min(count, 100));
      expect(JSON.stringify(kept.get('toys')?.parts)).not.to.include('Ann');
      most.ever = 0;
      expect((await encryptSnapshots(snapshots, seal).read('toys', 1))?.parts).to.deep.equal(parts);
      expect(most.ever).to.equal(Math.min(count, 100));
    }
  });

  it('are those with a subject and a secret: others are written as they are', async () => {
    const { most, seal } = counted();
    const { snapshots, kept } = snapshotsInMemory();
    const parts = [null, 7, 'text', ['subject'], { secret: { a: 1 } }, { subject: 7, secret: 'b' }, { subject: 's' }];
    await encryptSnapshots(snapshots, seal).write('toys', 1, 10n, parts);
    expect(kept.get('toys')?.parts).to.deep.equal(parts);
    expect((await encryptSnapshots(snapshots, seal).read('toys', 1))?.parts).to.deep.equal(parts);
    expect(most.ever).to.equal(0);
  });

  it('are none where no snapshot is', async () => {
    const { snapshots } = snapshotsInMemory();
    expect(await encryptSnapshots(snapshots, counted().seal).read('toys', 1)).to.equal(undefined);
  });
});
