/** Acts on content of others are preserved in the audit log exactly once. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createAudit, preserveActs } from '../../../../application/chat/admin/audit-log.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import { catalog } from '../../../../domain/chat/catalog.js';
import { messageStream } from '../../../../domain/chat/message.js';
import { handlerFor } from '../../../../domain/shared/decider.js';
import { memoryKernel, memoryWorld } from '../../../support/memory-kernel.js';

const NOW = Date.UTC(2027, 0, 15);

describe('preserved acts of the audit log', () => {
  const deleted = (n: number): RecordedEvent => ({
    id: randomUUID(),
    stream: messageStream(`m${n}`),
    revision: 1,
    version: 1,
    recordedAt: NOW,
    position: BigInt(100 + n),
    type: 'MessageDeleted',
    data: {
      messageId: `m${n}`,
      channelId: 'general',
      author: 'bob',
      by: 'admin',
      deletedAt: NOW,
      postedPosition: '1',
    },
    metadata: {},
  });

  function node(world: ReturnType<typeof memoryWorld>) {
    const kernel = memoryKernel(world, [catalog], { now: () => NOW });
    const audit = createAudit({ ...kernel, rows: {} as never, clock: { now: () => NOW } });
    const { on } = preserveActs(audit.note, kernel.derivation);
    return { preserve: async (event: RecordedEvent) => handlerFor(on, event as never)?.(event as never) };
  }

  it('are recorded once, even by a node that starts over after a crash', async () => {
    const world = memoryWorld();
    const acts = Array.from({ length: 500 }, (_, n) => deleted(n));
    const first = node(world);
    for (const act of acts) await first.preserve(act);
    const next = node(world);
    for (const act of acts) await next.preserve(act);
    expect(world.all).to.have.length(acts.length);
  });
});
