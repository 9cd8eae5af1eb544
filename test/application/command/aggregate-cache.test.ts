/** What several readers of one stream cache of it, when it is appended to or erased meanwhile. */
import { expect } from 'chai';
import type { Aggregate, AggregateStore } from '../../../application/command/aggregate.js';
import { createAggregateStore } from '../../../application/command/aggregate-store.js';
import type { EventLog, RecordedEvent } from '../../../application/ports/index.js';
import type { DomainEvent } from '../../../domain/shared/index.js';

type Found = readonly RecordedEvent[] | 'missing' | 'deleted';

const box: Aggregate<string, never, DomainEvent> = {
  catalog: { service: 'toys', events: {} },
  decider: { initialState: 'state', decide: () => [], evolve: {} },
  decrypts: 'none',
};

describe('the cached aggregates, while a stream is read', () => {
  const STREAM = 'toys.box-1';
  const at = (revision: number) =>
    ({ revision, position: 1n, type: 'ToyPut', data: {}, metadata: {} }) as RecordedEvent;

  let streams: AggregateStore;
  /** Answers the reads of the log, in the order in which they began. */
  let answers: ((found: Found) => void)[];
  beforeEach(() => {
    answers = [];
    const read = () => new Promise<Found>((resolve) => answers.push(resolve));
    streams = createAggregateStore({ read } as unknown as EventLog, async () => {
      throw new Error('nothing is decrypted');
    });
  });

  /** A read in progress, whose answer is given by `end`. */
  async function startRead(stream = STREAM) {
    const done = streams.reload(box, stream, { onEvent: () => {} });
    await new Promise(setImmediate);
    const answer = answers.at(-1)!;
    return {
      async end(found: number | Found) {
        answer(typeof found === 'number' ? [at(found)] : found);
        await done;
      },
    };
  }
  const hear = (revision: number) => streams.onEvent({ ...at(revision), stream: STREAM });
  const fresh = (stream = STREAM) => streams.cached(box, stream)?.revision;

  it('marks stale what each of the readers misses, also after another has ended', async () => {
    const [first, second, other] = [await startRead(), await startRead(), await startRead('toys.box-2')];
    hear(5);
    await first.end(4);
    expect(fresh()).to.equal(undefined);
    hear(7);
    hear(6);
    streams.forget(STREAM);
    const third = await startRead();
    await second.end(7);
    expect(fresh()).to.equal(undefined);
    hear(8);
    await third.end(7);
    expect(fresh()).to.equal(undefined);
    const fourth = await startRead();
    await fourth.end(8);
    expect(fresh()).to.equal(8);
    await other.end(3);
    expect(fresh('toys.box-2')).to.equal(3);
  });

  it('marks nothing stale for a reader that begins after it', async () => {
    const first = await startRead();
    hear(5);
    streams.forget(STREAM);
    const second = await startRead();
    await second.end(4);
    expect(fresh()).to.equal(4);
    await first.end(6);
    expect(fresh()).to.equal(4);
  });

  it('caches no stream without events, but a deleted one', async () => {
    await (await startRead()).end('missing');
    expect(fresh()).to.equal(undefined);
    expect(streams.caches[0].bytes()).to.equal(0);
    await (await startRead()).end('deleted');
    expect(streams.cached(box, STREAM)?.deleted).to.equal(true);
  });
});
