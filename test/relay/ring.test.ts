/** What a ring lets go of: nobody else may have it in memory, and the ring counts it no longer. */
import { setTimeout as passed } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createRing } from '../../adapters/relay/ring.js';

describe('a ring', () => {
  const [ITEMS, BYTES, MOST] = [1000, 100_000, 500_000];

  it('has no item in memory that it has let go of', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const ring = createRing<{ position: bigint; bytes: number }>({ items: ITEMS, bytes: MOST, from: 0n });
    const pushed = Array.from({ length: ITEMS - 1 }, (_, n) => {
      const item = { position: BigInt(n + 1), bytes: BYTES };
      ring.push(item);
      return new WeakRef(item);
    });
    // What was looked at in this turn stays until the next.
    await passed(0);
    gc();
    expect(pushed.filter((item) => item.deref())).to.have.length(MOST / BYTES);
    expect(ring.since(0n)).to.have.length(MOST / BYTES);
    expect(ring.bytes).to.equal(MOST);
  });
});
