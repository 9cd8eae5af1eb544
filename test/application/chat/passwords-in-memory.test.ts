/** A password that was set very often: what is read of it before anything is decided. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { passwordAggregate } from '../../../application/chat/aggregates.js';
import { createAggregateStore } from '../../../application/command/aggregate-store.js';
import type { EventLog } from '../../../application/ports/index.js';
import { catalog } from '../../../domain/chat/catalog.js';
import { userStream } from '../../../domain/chat/password.js';
import { setPassword } from '../../support/chat.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toys.js';

describe('a password that was set very often', () => {
  it('is read by its newest, and not from its beginning', async () => {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    await kernel.vault.create('chat.user-bob');
    const stream = userStream('bob');
    for (let n = 0; n < 450; n++)
      await kernel.handle(passwordAggregate, stream, { ...setPassword(), hash: `${n}` }, context(randomUUID()));
    let first = Number.POSITIVE_INFINITY;
    const read: EventLog['read'] = async (...asked) => {
      const found = await kernel.log.read(...asked);
      if (typeof found !== 'string') for (const { revision } of found) first = Math.min(first, revision);
      return found;
    };
    const { state } = await createAggregateStore({ ...kernel.log, read }, kernel.reveal).load(
      passwordAggregate,
      stream,
    );
    expect(state).to.include({ hash: '449' });
    expect(first).to.be.at.least(200);
  });
});
