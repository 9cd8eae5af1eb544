/** Event streams that resume after messages and replies have been deleted. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { useChannel } from '../../support/chat-scenario.js';
import { EventStream, type Frame } from '../../support/http-spec.js';

describe('a resumed event stream of the chat', function () {
  this.timeout(60_000);
  const world = useChannel();

  it('contains nothing that deleted messages and replies showed, but their deletion', async () => {
    const shows = (content: string) => (frame: Frame) => frame.payload?.content === content;
    const [ada, bob] = [world.ada, world.bob];
    const first = await EventStream.to(world.base, { token: bob.token });
    await world.post(ada, 'before');
    await eventually(() => first.frames.some(shows('before')));
    first.close();
    const done = (method: string, path: string, body?: object) => world.done(ada, method, path, body);
    const { conversation } = await done('POST', '/conversations', { targetUserId: bob.id });
    const { message: direct } = await done('POST', `/conversations/${conversation.id}/messages`, { content: 'secret' });
    const [deleted, parent] = [await world.post(ada, 'secret'), await world.post(ada, 'stays')];
    await done('POST', `/messages/${deleted.id}/thread`, { content: 'secret' });
    const { reply } = await done('POST', `/messages/${parent.id}/thread`, { content: 'secret' });
    for (const { id } of [deleted, reply]) {
      await done('PUT', `/messages/${id}`, { content: 'secret edit' });
      await done('POST', `/messages/${id}/reactions`, { reaction: 'secret' });
    }
    for (const { id } of [deleted, reply, direct]) await done('DELETE', `/messages/${id}`);
    await world.post(ada, 'after');
    const headers = { 'last-event-id': first.ids.at(-1)! };
    const again = await EventStream.to(world.base, { token: bob.token, headers });
    await eventually(() => again.frames.some(shows('after')));
    expect(again.frames.filter((frame) => JSON.stringify(frame).includes('secret'))).to.deep.equal([]);
    expect(again.frames.map(({ type, payload }) => [type, payload?.id])).to.deep.include.members([
      ['NEW_MESSAGE', parent.id],
      ['DELETE_MESSAGE', deleted.id],
      ['DELETE_THREAD_REPLY', reply.id],
      ['DELETE_DM_MESSAGE', direct.id],
    ]);
    again.close();
  });
});
