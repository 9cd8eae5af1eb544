/** Commands on a stream without its events, or its newest events, after expiry: revisions continue. */
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

const expiringBox: Aggregate<Box, PutToy, ToyEvent> = { ...box, maxAge: true };

describe('a stream with expired events', function () {
  this.timeout(30_000);
  let one: Road;
  let other: Road;
  let stop: () => Promise<void>;
  before(async () => {
    ({ one, other, stop } = await onServers());
  });
  after(() => stop?.());

  it('continues its revisions when a process that never saw it handles a command after all events expired', async () => {
    const id = randomUUID();
    const stream = `toys.box-${id}`;
    await one.vault.create(stream);
    await one.handle(expiringBox, stream, { box: id, toy: 'bear' }, context());
    await one.log.retain(stream, { maxAgeSeconds: 1 });
    await eventually(async () => {
      const events = await one.log.read(stream);
      return events === 'missing' || events.length === 0;
    });
    const outcome = await other.handle(expiringBox, stream, { box: id, toy: 'car' }, context());
    if (isRejection(outcome)) throw new Error(outcome.rejected);
    expect((await outcome.state()).toys).to.deep.equal(['car']);
    expect(other.aggregates.cached(expiringBox, stream)?.revision).to.equal(1);
  });

  it('continues after events that expired before older ones because a clock was behind', async () => {
    const id = randomUUID();
    const stream = `toys.box-${id}`;
    await one.vault.create(stream);
    for (const toy of ['bear', 'car', 'doll']) await one.handle(expiringBox, stream, { box: id, toy }, context());
    // What the store returns once the clock is right: neither the car nor the doll.
    const read: EventLog['read'] = async (...args) => {
      const found = await one.log.read(...args);
      return typeof found === 'string' ? found : found.filter(({ revision }) => ![1, 2].includes(revision));
    };
    const log = { ...one.log, read };
    const { handle } = commandsOf({ log, aggregates: createAggregateStore(log, one.decryptEvent) });
    for (const toy of ['ball', 'kite']) {
      const outcome = await handle(expiringBox, stream, { box: id, toy }, context());
      if (isRejection(outcome)) throw new Error(outcome.rejected);
    }
    expect((await one.aggregates.reload(expiringBox, stream)).state.toys).to.deep.equal([
      'bear',
      'car',
      'doll',
      'ball',
      'kite',
    ]);
    expect(one.aggregates.cached(expiringBox, stream)?.revision).to.equal(4);
  });
});
