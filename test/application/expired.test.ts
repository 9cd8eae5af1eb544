/** Commands on a stream of whose events none is left: it goes on where it was. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Seeing } from '../../application/command/streams.js';
import { isRejection } from '../../domain/shared/decider.js';
import { eventually } from '../support/condition.js';
import { type Box, box, context, type PutToy, type ToyEvent } from '../support/toys.js';
import { onServers, type Road } from './road.js';

const kept: Seeing<Box, PutToy, ToyEvent> = { ...box, expires: true };

describe('a stream whose events have all expired', function () {
  this.timeout(30_000);
  let one: Road;
  let other: Road;
  let stop: () => Promise<void>;
  before(async () => {
    ({ one, other, stop } = await onServers());
  });
  after(() => stop?.());

  it('takes the next command of a process that has never seen it, and goes on with its revisions', async () => {
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
    expect(other.streams.known(kept, stream)?.revision).to.equal(1);
  });
});
