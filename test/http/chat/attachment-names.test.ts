/** Searching for the names of attachments: what an edit takes out is found no more, what it puts in is. */
import { expect } from 'chai';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';
import { uploaded } from '../../support/chat-uploads.js';

describe('the names of attachments', function () {
  this.timeout(60_000);
  let world: ChatWorld;
  let messages: string;
  before(async () => {
    world = await startChat();
    const { channel } = await world.done(world.ada, 'POST', '/channels', { name: 'talk' });
    messages = `/channels/${channel.id}/messages`;
  });
  after(() => world?.stop());

  const found = async (q: string): Promise<string[]> => {
    const { messages } = await world.done(world.ada, 'GET', `/search/messages?q=${q}`);
    return messages.map(({ id }: { id: string }) => id);
  };

  /** Something said with two attachments, and how to edit it. */
  const said = {
    async message(attachments: readonly object[]) {
      const { message } = await world.done(world.ada, 'POST', messages, { content: 'look', attachments });
      return { id: message.id, path: `/messages/${message.id}` };
    },
    async reply(attachments: readonly object[]) {
      const { id } = (await world.done(world.ada, 'POST', messages, { content: 'parent' })).message;
      const path = `/messages/${id}/thread`;
      const { reply } = await world.done(world.ada, 'POST', path, { content: 'look', attachments });
      return { id: reply.id, path: `${path}/${reply.id}` };
    },
  };

  for (const kind of ['message', 'reply'] as const) {
    const names = [`${kind}plan.pdf`, `${kind}budget.pdf`, `${kind}sketch.pdf`] as const;
    it(`are those that a ${kind} has by its newest edit`, async () => {
      const [plan, budget, sketch] = [
        await uploaded(world, world.ada, names[0]),
        await uploaded(world, world.ada, names[1]),
        await uploaded(world, world.ada, names[2]),
      ];
      const { id, path } = await said[kind]([plan, budget]);
      const edit = (wording: object) => world.done(world.ada, 'PUT', path, wording);
      /** By which of the names it is found. */
      const nowFound = async () => {
        const by = [];
        for (const name of names) if ((await found(name)).includes(id)) by.push(name);
        return by;
      };
      expect(await nowFound()).to.deep.equal([names[0], names[1]]);
      await edit({ content: 'look again' });
      expect(await nowFound(), 'only the text').to.deep.equal([names[0], names[1]]);
      await edit({ attachments: [budget, sketch] });
      expect(await nowFound(), 'others').to.deep.equal([names[1], names[2]]);
      await edit({ attachments: [] });
      expect(await nowFound(), 'none').to.deep.equal([]);
      expect(await found('again'), 'its text').to.include(id);
      await edit({ attachments: [plan] });
      expect(await nowFound(), 'one again').to.deep.equal([names[0]]);
    });
  }
});
