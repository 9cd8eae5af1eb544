/** Searching messages by the names of their attachments, which edits add and remove. */
import { expect } from 'chai';
import { type ChatWorld, startChat, uploaded } from '../../support/chat-scenario.js';

describe('search by attachment names', function () {
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

  /** Posts a message or a reply with two attachments; resolves with its id and the path to edit it. */
  const post = {
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
    it(`finds a ${kind} by the attachments of its latest version only`, async () => {
      const [plan, budget, sketch] = [
        await uploaded(world, world.ada, names[0]),
        await uploaded(world, world.ada, names[1]),
        await uploaded(world, world.ada, names[2]),
      ];
      const { id, path } = await post[kind]([plan, budget]);
      const edit = (changes: object) => world.done(world.ada, 'PUT', path, changes);
      /** The attachment names that find the message. */
      const matchingNames = async () => {
        const by = [];
        for (const name of names) if ((await found(name)).includes(id)) by.push(name);
        return by;
      };
      expect(await matchingNames()).to.deep.equal([names[0], names[1]]);
      await edit({ content: 'look again' });
      expect(await matchingNames(), 'only the text changed').to.deep.equal([names[0], names[1]]);
      await edit({ attachments: [budget, sketch] });
      expect(await matchingNames(), 'other files').to.deep.equal([names[1], names[2]]);
      await edit({ attachments: [] });
      expect(await matchingNames(), 'no files').to.deep.equal([]);
      expect(await found('again'), 'its text').to.include(id);
      await edit({ attachments: [plan] });
      expect(await matchingNames(), 'attached again').to.deep.equal([names[0]]);
    });
  }
});
