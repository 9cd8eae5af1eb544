/** Encrypted snapshots: secrets in the parts are encrypted in batches, everything else is written as is. */
import { expect } from 'chai';
import { encryptSnapshots, type SnapshotVault } from '../../../application/subscription/encrypted-snapshots.js';
import { snapshotsInMemory } from '../../support/memory-ports.js';

/** A vault that reverses bytes, with the current and maximum number of concurrent calls. */
function countingVault() {
  const concurrency = { now: 0, ever: 0 };
  const reverse = async (_: string, bytes: Uint8Array) => {
    concurrency.now++;
    concurrency.ever = Math.max(concurrency.ever, concurrency.now);
    await new Promise(setImmediate);
    concurrency.now--;
    return Buffer.from(bytes).reverse();
  };
  return { concurrency, seal: { sealBytes: reverse, openBytes: reverse } as unknown as SnapshotVault };
}

describe('encrypted snapshots', () => {
  it('restore their parts in order, encrypting and decrypting up to 100 concurrently', async () => {
    for (const count of [0, 1, 100, 101, 250]) {
      const { concurrency, seal } = countingVault();
      const { snapshots, stored } = snapshotsInMemory();
      const parts = Array.from({ length: count }, (_, id) => ({
        subject: `s${id}`,
        secret: { name: 'Ann' },
      }));
      await encryptSnapshots(snapshots, seal).write('toys', 1, 10n, parts);
      expect(concurrency.ever).to.equal(Math.min(count, 100));
      expect(JSON.stringify(stored.get('toys')?.parts)).not.to.include('Ann');
      concurrency.ever = 0;
      expect((await encryptSnapshots(snapshots, seal).read('toys', 1))?.parts).to.deep.equal(parts);
      expect(concurrency.ever).to.equal(Math.min(count, 100));
    }
  });

  it('encrypt only parts with a subject and a secret', async () => {
    const { concurrency, seal } = countingVault();
    const { snapshots, stored } = snapshotsInMemory();
    const parts = [null, 7, 'text', ['subject'], { secret: { a: 1 } }, { subject: 7, secret: 'b' }, { subject: 's' }];
    await encryptSnapshots(snapshots, seal).write('toys', 1, 10n, parts);
    expect(stored.get('toys')?.parts).to.deep.equal(parts);
    expect((await encryptSnapshots(snapshots, seal).read('toys', 1))?.parts).to.deep.equal(parts);
    expect(concurrency.ever).to.equal(0);
  });

  it('return undefined without a snapshot', async () => {
    const { snapshots } = snapshotsInMemory();
    expect(await encryptSnapshots(snapshots, countingVault().seal).read('toys', 1)).to.equal(undefined);
  });
});
