/** Files whose reactions have not run yet: an edit restored one before the reaction to its removal, or its message was deleted. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Caller } from '../../../../application/chat/sign-in/authenticate.js';
import { fileSubject } from '../../../../domain/chat/events/files.js';
import { fileIdOf } from '../../../../domain/chat/file-names.js';
import { messageStream } from '../../../../domain/chat/message.js';
import { handlerFor } from '../../../../domain/shared/decider.js';
import { SAMPLES } from '../../../support/chat-fixtures.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, startChatNode } from '../node.js';

describe('a file whose reactions have not run yet', function () {
  this.timeout(60_000);
  let servers: Servers;
  let node: ChatNode;
  let ada: Caller;
  let bob: Caller;
  let channelId: string;
  before(async () => {
    servers = await startServers();
    node = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`);
    [ada, bob] = [await node.join('ada'), await node.join('bob')];
    channelId = accepted(await node.channels.create(ada, { name: 'open' }, context())).body.channel.id;
  });
  after(async () => {
    await node?.kernel.mongo.models.dropDatabase();
    await node?.stop();
    await servers?.stop();
  });

  async function upload() {
    const receiving = await node.sealedFiles.receive();
    await receiving.write(SAMPLES.pdf!);
    const what = { filename: 'plan.pdf', channelId: null, content: await receiving.end() };
    const { filename } = accepted(await node.files.upload(ada, what, context())).body;
    return { filename, originalName: '', contentType: '', size: 0 };
  }
  const read = async (stream: string) => {
    const events = await node.kernel.log.read(stream);
    if (typeof events === 'string') throw new Error(events);
    return events;
  };
  /** Runs the delayed reactions to all edits of a message and its replies; calls `each` after every one. */
  async function react(messageId: string, each: () => Promise<unknown>) {
    const reaction = node.reactions.find(({ name }) => name === 'chat.files')!;
    for (const event of await read(messageStream(messageId)))
      if (event.type.endsWith('Edited')) {
        await handlerFor(reaction.on, event)?.(event);
        await each();
      }
  }
  const isReadable = async (filename: string) => !('rejected' in (await node.files.file(bob, filename)));

  it('stays readable on a message and on a reply', async () => {
    const [one, two] = [await upload(), await upload()];
    const { post, edit } = node.messages;
    const { id } = accepted(await post(ada, channelId, { attachments: [one], content: 'x' }, context())).body.message;
    const content = { attachments: [two], content: 'x' };
    const reply = accepted(await node.replies.post(ada, id, content, context())).body.reply;
    for (const attachments of [[], [one]]) accepted(await edit(ada, id, { attachments }, context()));
    for (const attachments of [[], [two]])
      accepted(await node.replies.edit(ada, id, reply.id, { attachments }, context()));
    await react(id, async () => {
      for (const { filename } of [one, two]) expect(await isReadable(filename)).to.equal(true);
    });
  });

  it('is detached if the last edit omits it', async () => {
    const file = await upload();
    const { post, edit } = node.messages;
    const { id } = accepted(await post(ada, channelId, { attachments: [file], content: 'x' }, context())).body.message;
    for (const attachments of [[], [file], []]) accepted(await edit(ada, id, { attachments }, context()));
    await react(id, async () => expect(await isReadable(file.filename)).to.equal(false));
    const events = await read(fileSubject({ fileId: fileIdOf(file.filename)! }));
    expect(events.at(-1)!.type).to.equal('FileDetached');
  });

  it('is shown to nobody but its uploader once its message, or the message of its thread, is deleted', async () => {
    const receiving = await node.sealedFiles.receive();
    await receiving.write(SAMPLES.png!);
    const picture = { filename: 'view.png', channelId, content: await receiving.end() };
    const { filename } = accepted(await node.files.upload(ada, picture, context())).body;
    const isShown = async (who: Caller) => !('rejected' in (await node.files.shownImage(who, channelId, filename)));
    expect(await isShown(bob), 'before it is posted').to.equal(true);
    const { post, remove } = node.messages;
    const { id } = accepted(await post(ada, channelId, { content: 'x' }, context())).body.message;
    accepted(await node.replies.post(ada, id, { images: [filename] }, context()));
    expect(await isShown(bob), 'in a reply').to.equal(true);
    accepted(await remove(ada, id, context()));
    expect(await isShown(bob), 'after the deletion').to.equal(false);
  });
});
