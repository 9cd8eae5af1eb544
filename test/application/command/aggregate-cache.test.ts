/** Cached aggregates with several readers of one stream, while it is appended to or erased. */
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

describe('cached aggregates during reads', () => {
  const STREAM = 'toys.box-1';
  const at = (revision: number) =>
    ({ revision, position: 1n, type: 'ToyPut', data: {}, metadata: {} }) as RecordedEvent;

  let aggregates: AggregateStore;
  /** Pending reads of the log, in order of their start. */
  let answers: ((found: Found) => void)[];
  beforeEach(() => {
    answers = [];
    const read = () => new Promise<Found>((resolve) => answers.push(resolve));
    aggregates = createAggregateStore({ read } as unknown as EventLog, async () => {
      throw new Error('must not decrypt');
    });
  });

  /** A read in progress; `end` answers it. */
  async function startRead(stream = STREAM) {
    const done = aggregates.reload(box, stream, { onEvent: () => {} });
    await new Promise(setImmediate);
    const answer = answers.at(-1)!;
    return {
      async end(found: number | Found) {
        answer(typeof found === 'number' ? [at(found)] : found);
        await done;
      },
    };
  }
  const deliver = (revision: number) => aggregates.onEvent({ ...at(revision), stream: STREAM });
  const fresh = (stream = STREAM) => aggregates.cached(box, stream)?.revision;

  it('are stale for every reader that missed an event, even after another reader has finished', async () => {
    const [first, second, other] = [await startRead(), await startRead(), await startRead('toys.box-2')];
    deliver(5);
    await first.end(4);
    expect(fresh()).to.equal(undefined);
    deliver(7);
    deliver(6);
    aggregates.forget(STREAM);
    const third = await startRead();
    await second.end(7);
    expect(fresh()).to.equal(undefined);
    deliver(8);
    await third.end(7);
    expect(fresh()).to.equal(undefined);
    const fourth = await startRead();
    await fourth.end(8);
    expect(fresh()).to.equal(8);
    await other.end(3);
    expect(fresh('toys.box-2')).to.equal(3);
  });

  it('are not stale for a reader that starts after the event', async () => {
    const first = await startRead();
    deliver(5);
    aggregates.forget(STREAM);
    const second = await startRead();
    await second.end(4);
    expect(fresh()).to.equal(4);
    await first.end(6);
    expect(fresh()).to.equal(4);
  });

  it('include deleted streams, and none without events', async () => {
    await (await startRead()).end('missing');
    expect(fresh()).to.equal(undefined);
    expect(aggregates.caches[0].bytes()).to.equal(0);
    await (await startRead()).end('deleted');
    expect(aggregates.cached(box, STREAM)?.deleted).to.equal(true);
  });
});
