/** Commands on a stream of whose events none is left, or not the newest: it goes on where it was. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Aggregate } from '../../../application/command/aggregate.js';
import { createAggregateStore } from '../../../application/command/aggregate-store.js';
import type { EventLog } from '../../../application/ports/index.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { commandsOf } from '../../support/memory-kernel.js';
import { type Box, box, context, type PutToy, type ToyEvent } from '../../support/toy-service.js';
import { onServers, type Road } from './two-nodes.js';

const kept: Aggregate<Box, PutToy, ToyEvent> = { ...box, maxAge: true };

describe('a stream whose events have expired', function () {
  this.timeout(30_000);
  let one: Road;
  let other: Road;
  let stop: () => Promise<void>;
  before(async () => {
    ({ one, other, stop } = await onServers());
  });
  after(() => stop?.());

  it('takes, with none left, the next command of a process that has never seen it, and goes on with its revisions', async () => {
    const id = randomUUID();
    const stream = `toys.box-${id}`;
    await one.vault.create(stream);
    await one.handle(kept, stream, { box: id, toy: 'bear' }, context());
    await one.log.retain(stream, { maxAgeSeconds: 1 });
    await eventually(async () => {
      const left = await one.log.read(stream);
      return left === 'missing' || left.length === 0;
    });
    const outcome = await other.handle(kept, stream, { box: id, toy: 'car' }, context());
    if (isRejection(outcome)) throw new Error(outcome.rejected);
    expect((await outcome.state()).toys).to.deep.equal(['car']);
    expect(other.streams.cached(kept, stream)?.revision).to.equal(1);
  });

  it('goes on behind events that have expired before older ones, as a clock leaves them that was behind', async () => {
    const id = randomUUID();
    const stream = `toys.box-${id}`;
    await one.vault.create(stream);
    for (const toy of ['bear', 'car', 'doll']) await one.handle(kept, stream, { box: id, toy }, context());
    // What the store shows of it, once the clock is right: neither the car nor the doll.
    const read: EventLog['read'] = async (...asked) => {
      const found = await one.log.read(...asked);
      return typeof found === 'string' ? found : found.filter(({ revision }) => ![1, 2].includes(revision));
    };
    const log = { ...one.log, read };
    const { handle } = commandsOf({ log, streams: createAggregateStore(log, one.decryptEvent) });
    for (const toy of ['ball', 'kite']) {
      const outcome = await handle(kept, stream, { box: id, toy }, context());
      if (isRejection(outcome)) throw new Error(outcome.rejected);
    }
    expect((await one.streams.reload(kept, stream)).state.toys).to.deep.equal(['bear', 'car', 'doll', 'ball', 'kite']);
    expect(one.streams.cached(kept, stream)?.revision).to.equal(4);
  });
});
