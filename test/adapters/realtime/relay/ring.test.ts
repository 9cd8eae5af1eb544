/** Dropped items of a ring are released from memory and no longer counted. */
import { setTimeout as passed } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createRing } from '../../../../adapters/realtime/relay/client-stream.js';

describe('a ring', () => {
  const [ITEMS, BYTES, MOST] = [1000, 100_000, 500_000];

  it('keeps no dropped item in memory', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const ring = createRing<{ position: bigint; bytes: number }>({ items: ITEMS, bytes: MOST, from: 0n });
    const pushed = Array.from({ length: ITEMS - 1 }, (_, n) => {
      const item = { position: BigInt(n + 1), bytes: BYTES };
      ring.push(item);
      return new WeakRef(item);
    });
    // References of this turn stay until the next.
    await passed(0);
    gc();
    expect(pushed.filter((item) => item.deref())).to.have.length(MOST / BYTES);
    expect(ring.since(0n)).to.have.length(MOST / BYTES);
    expect(ring.bytes).to.equal(MOST);
  });

  const of = (...positions: readonly number[]) =>
    positions.map((position) => ({ position: BigInt(position), bytes: 10 * position }));
  const positions = (items: readonly { readonly position: bigint }[]) => items.map(({ position }) => Number(position));

  it('contains exactly the items after its horizon, whatever is removed in between', () => {
    const ring = createRing<{ position: bigint; bytes: number }>({ items: 3, bytes: MOST, from: 0n });
    for (const item of of(1, 2, 3, 4, 5)) ring.push(item);
    expect(ring.horizon).to.equal(2n);
    ring.revise((item) => (item.position === 4n ? undefined : item));
    expect([positions(ring.since(2n)), ring.horizon, ring.bytes]).to.deep.equal([[3, 5], 2n, 80]);
    for (const item of of(7, 8)) ring.push(item);
    expect([positions(ring.since(0n)), ring.horizon, ring.bytes]).to.deep.equal([[5, 7, 8], 3n, 200]);
    expect([ring.after(5n), ring.after(6n), ring.after(8n)].map((item) => item?.position)).to.deep.equal([
      7n,
      7n,
      undefined,
    ]);
    ring.revise((item) => ({ ...item, bytes: 1 }));
    expect(ring.bytes).to.equal(3);
    ring.clear(9n);
    expect([positions(ring.since(0n)), ring.horizon, ring.bytes]).to.deep.equal([[], 9n, 0]);
    ring.push(of(10)[0]!);
    expect([positions(ring.since(9n)), ring.horizon]).to.deep.equal([[10], 9n]);
  });
});
