/** What several readers of one stream cache of it, when it is appended to or erased meanwhile. */
import { expect } from 'chai';
import {
  type AggregateCache,
  createAggregateCache,
  emptyAggregate,
  type LoadedAggregate,
} from '../../../application/command/aggregate-cache.js';

describe('a cache of aggregates, while a stream is read', () => {
  const STREAM = 'toys.box-1';
  const at = (revision: number): LoadedAggregate<string> => ({ ...emptyAggregate('state'), revision });

  /** A read in progress; `end` caches what it has found. */
  function startRead(cache: AggregateCache, stream = STREAM) {
    let resolve: (loaded: LoadedAggregate<string>) => void = () => {};
    const found = new Promise<LoadedAggregate<string>>((resolveFound) => {
      resolve = resolveFound;
    });
    const done = cache.readThrough(stream, () => found);
    return {
      async end(revision: number) {
        resolve(at(revision));
        await done;
      },
    };
  }

  let cache: AggregateCache;
  beforeEach(() => {
    cache = createAggregateCache();
  });

  it('marks stale what each of the readers misses, also after another has ended', async () => {
    const [first, second, other] = [startRead(cache), startRead(cache), startRead(cache, 'toys.box-2')];
    cache.onEvent({ stream: STREAM, revision: 5 });
    await first.end(4);
    expect(cache.latest(STREAM)?.revision).to.equal(4);
    expect(cache.fresh(STREAM)).to.equal(undefined);
    cache.onEvent({ stream: STREAM, revision: 7 });
    cache.onEvent({ stream: STREAM, revision: 6 });
    cache.forget(STREAM);
    const third = startRead(cache);
    await second.end(7);
    expect(cache.latest(STREAM)).to.equal(undefined);
    cache.onEvent({ stream: STREAM, revision: 8 });
    await third.end(7);
    expect(cache.latest(STREAM)?.revision).to.equal(7);
    expect(cache.fresh(STREAM)).to.equal(undefined);
    await other.end(3);
    expect(cache.fresh('toys.box-2')).to.deep.equal(at(3));
  });

  it('marks nothing stale for a reader that begins after it', async () => {
    const first = startRead(cache);
    cache.onEvent({ stream: STREAM, revision: 5 });
    cache.forget(STREAM);
    const second = startRead(cache);
    await second.end(4);
    expect(cache.fresh(STREAM)).to.deep.equal(at(4));
    await first.end(6);
    expect(cache.latest(STREAM)?.revision).to.equal(4);
  });

  it('caches no stream without events, but a deleted one', async () => {
    await startRead(cache).end(-1);
    expect(cache.latest(STREAM)).to.equal(undefined);
    await cache.readThrough(STREAM, async () => ({ ...at(-1), deleted: true }));
    expect(cache.fresh(STREAM)?.deleted).to.equal(true);
  });
});
