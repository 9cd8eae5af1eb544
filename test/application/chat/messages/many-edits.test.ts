/** Loading a message with hundreds of edits decrypts only what a decision needs. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { messageAggregate } from '../../../../application/chat/aggregates.js';
import { createAggregateStore } from '../../../../application/command/aggregate-store.js';
import type { DecryptEvent } from '../../../../application/ports/index.js';
import { catalog } from '../../../../domain/chat/catalog.js';
import { channelSubject } from '../../../../domain/chat/events/channels.js';
import { type MessageCommand, messageStream } from '../../../../domain/chat/message.js';
import { CHANNEL, editMessage, pin, postMessage, react, unpin } from '../../../support/chat-fixtures.js';
import { memoryKernel, memoryWorld } from '../../../support/memory-kernel.js';
import { context } from '../../../support/toy-service.js';

describe('a message with hundreds of edits', () => {
  it('is loaded without decrypting the content that pin events repeat', async () => {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    await kernel.vault.create(channelSubject({ channelId: CHANNEL }));
    const stream = messageStream(randomUUID());
    const run = (command: MessageCommand) => kernel.handle(messageAggregate, stream, command, context());
    await run(postMessage('first'));
    for (let n = 0; n < 120; n++) for (const each of [editMessage(`${n}`), pin(), unpin()]) await run(each);
    await run(react('+1'));
    const { state } = await kernel.aggregates.load(messageAggregate, stream);
    expect(state.body.content).to.equal('119');

    const decrypted: string[] = [];
    const decryptEvent: DecryptEvent = (from, event) => {
      decrypted.push(event.type);
      return kernel.decryptEvent(from, event);
    };
    const read = await createAggregateStore(kernel.log, decryptEvent).load(messageAggregate, stream);
    expect(read.state).to.deep.equal(state);
    expect([...new Set(decrypted)]).to.deep.equal(['MessagePosted', 'MessageEdited', 'ReactionAdded']);
  });
});
