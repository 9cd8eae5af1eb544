/** Tests the cache of the end of the log in the embedded event store. */
import { expect } from 'chai';
import { createTailCache } from '../../eventstore/log/tail-cache.js';

describe('the tail cache', () => {
  const event = (position: number, bytes = 10) => ({ position, record: Buffer.alloc(bytes), category: 1 });
  const positions = (recent: ReturnType<typeof createTailCache>, from: number) =>
    recent.from(from)?.map(({ position }) => position);

  it('returns the events of all flushes from any position on', () => {
    const recent = createTailCache();
    expect(positions(recent, 0)).to.equal(undefined);
    recent.add({ position: 100 }, [event(110), event(120)]);
    recent.add({ position: 120 }, []);
    recent.add({ position: 120 }, [event(130)]);
    expect(positions(recent, 100)).to.equal(undefined);
    for (const [from, expected] of [
      [101, [110, 120, 130]],
      [111, [120, 130]],
      [120, [120, 130]],
      [131, []],
    ] as const)
      expect(positions(recent, from), String(from)).to.deep.equal(expected);
  });

  it('is bounded in bytes and never has a gap', () => {
    const recent = createTailCache();
    for (let n = 1; n <= 100; n++) {
      recent.add({ position: n - 1 }, [event(n, 60_000)]);
      let oldest = n + 1;
      while (positions(recent, oldest - 1)) oldest--;
      expect(positions(recent, oldest)).to.deep.equal(Array.from({ length: n + 1 - oldest }, (_, i) => oldest + i));
      expect(n + 1 - oldest).to.be.within(Math.min(n, 8), 17);
    }
    recent.add({ position: 100 }, [event(101, 2 << 20)]);
    expect([positions(recent, 101), positions(recent, 102)]).to.deep.equal([undefined, []]);
  });

  it('is empty after forget', () => {
    const recent = createTailCache();
    recent.add({ position: 0 }, [event(1), event(2)]);
    recent.forget();
    expect(positions(recent, 1)).to.equal(undefined);
    recent.add({ position: 2 }, [event(3)]);
    expect([positions(recent, 2), positions(recent, 3)]).to.deep.equal([undefined, [3]]);
  });
});
