/** Access to the files of the chat over HTTP: who may read them, and until when. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { type ChatWorld, pdf, read, startChat, uploaded, uploadFile } from '../../support/chat-scenario.js';
import type { Answered, Member } from '../../support/http-spec.js';

describe('access to files of messages', function () {
  this.timeout(120_000);
  let world: ChatWorld;
  let channel: string;
  let secret: string;
  before(async () => {
    world = await startChat();
    const { ada, bob } = world;
    channel = (await world.done(ada, 'POST', '/channels', { name: 'open' })).channel.id;
    const expected = { name: 'secret', isPrivate: true, members: [bob.id] };
    secret = (await world.done(ada, 'POST', '/channels', expected)).channel.id;
  });
  after(() => world?.stop());

  const statusOf = async (who: Member | undefined, name: string) => (await read(world, who, `/files/${name}`)).status;
  const post = async (who: Member, at: string, body: object) =>
    (await world.done(who, 'POST', `/channels/${at}/messages`, body)).message;
  const refused = ({ status, body }: Answered, expected: number) => {
    expect(status, JSON.stringify(body)).to.equal(expected);
    expect(body.error).to.be.a('string');
  };

  it('answers 401 without a token, and 404 under any other name', async () => {
    const { filename } = await uploaded(world, world.ada);
    refused(await uploadFile(world, undefined, 'x.pdf', pdf(10)), 401);
    expect(await statusOf(undefined, filename)).to.equal(401);
    const [ms = '', rest = ''] = filename.split(/-(.*)/s);
    const names = [`${Number(ms) + 1}-${rest}`, `${filename}x`, filename.replace('pdf', 'txt'), 'x.pdf', '1-x.pdf'];
    const paths = ['..%2f..%2fpackage.json', '..%5c', `..%2ffiles%2f${filename}`, `${filename}%00`];
    for (const name of [...names, ...paths]) expect(await statusOf(world.ada, name), name).to.equal(404);
  });

  it('is granted to the uploader, and to everybody who sees a message with the file', async () => {
    const { admin, ada, bob, cyd } = world;
    const file = await uploaded(world, ada);
    const all = async () => [
      await statusOf(ada, file.filename),
      await statusOf(bob, file.filename),
      await statusOf(cyd, file.filename),
      await statusOf(admin, file.filename),
    ];
    expect(await all()).to.deep.equal([200, 404, 404, 404]);
    const message = await post(ada, secret, { attachments: [file] });
    expect(message.attachments).to.deep.equal([file]);
    expect(await all()).to.deep.equal([200, 200, 404, 200]);
    await post(bob, channel, { content: 'passed on', attachments: [file] });
    expect(await all()).to.deep.equal([200, 200, 200, 200]);
  });

  it('is granted to readers of a reply, and to the participants of a conversation', async () => {
    const { ada, bob, cyd, admin } = world;
    const [inThread, between] = [await uploaded(world, ada), await uploaded(world, ada)];
    const parent = await post(ada, channel, { content: 'parent' });
    await world.done(ada, 'POST', `/messages/${parent.id}/thread`, { attachments: [inThread] });
    expect(await statusOf(cyd, inThread.filename)).to.equal(200);
    const { conversation } = await world.done(ada, 'POST', '/conversations', { targetUserId: bob.id });
    await world.done(ada, 'POST', `/conversations/${conversation.id}/messages`, { attachments: [between] });
    expect(await statusOf(bob, between.filename)).to.equal(200);
    for (const other of [cyd, admin]) expect(await statusOf(other, between.filename)).to.equal(404);
  });

  it('requires attaching users to be the uploader or to see the file already', async () => {
    const { ada, bob, cyd } = world;
    const file = await uploaded(world, ada);
    const attach = (who: Member, attachments: unknown) =>
      world.as(who, 'POST', `/channels/${channel}/messages`, { content: 'x', attachments });
    refused(await attach(cyd, [file]), 400);
    refused(await attach(ada, [{ ...file, filename: '1767225600000-aaaaaaaaaaaaaaaaaaaaaa.pdf' }]), 400);
    refused(await attach(ada, [{ ...file, filename: '../../etc/passwd' }]), 400);
    await post(ada, secret, { attachments: [file] });
    refused(await attach(cyd, [file]), 400);
    const forged = { ...file, originalName: 'virus.exe', contentType: 'text/html', size: 1 };
    const { body } = await attach(bob, [forged]);
    expect(body.message.attachments).to.deep.equal([file]);
  });

  it('ends with the message, its thread or its channel', async () => {
    const { ada, cyd } = world;
    const { channel: made } = await world.done(ada, 'POST', '/channels', { name: 'doomed' });
    const untilDeleted = (name: string) => eventually(async () => (await statusOf(ada, name)) === 404);
    const [one, two, three, four] = [
      await uploaded(world, ada),
      await uploaded(world, ada),
      await uploaded(world, ada),
      await uploaded(world, ada),
    ];
    const first = await post(ada, made.id, { attachments: [one] });
    await world.done(ada, 'POST', `/messages/${first.id}/thread`, { attachments: [two] });
    await world.done(ada, 'DELETE', `/messages/${first.id}`);
    for (const { filename } of [one, two]) expect(await statusOf(cyd, filename)).to.equal(404);
    for (const { filename } of [one, two]) await untilDeleted(filename);
    const parent = await post(ada, made.id, { content: 'parent' });
    const { reply } = await world.done(ada, 'POST', `/messages/${parent.id}/thread`, {
      attachments: [three],
    });
    await world.done(ada, 'DELETE', `/messages/${parent.id}/thread/${reply.id}`);
    expect(await statusOf(cyd, three.filename)).to.equal(404);
    await untilDeleted(three.filename);
    await post(ada, made.id, { attachments: [four] });
    await post(ada, channel, { attachments: [four] });
    const alone = await uploaded(world, ada);
    await post(ada, made.id, { attachments: [alone] });
    await world.done(ada, 'DELETE', `/channels/${made.id}`);
    expect(await statusOf(cyd, alone.filename)).to.equal(404);
    await untilDeleted(alone.filename);
    expect(await statusOf(cyd, four.filename)).to.equal(200);
  });

  it('ends for others when an edit removes the file, which can be attached again', async () => {
    const { ada, cyd } = world;
    const file = await uploaded(world, ada);
    const { id } = await post(ada, channel, { content: 'x', attachments: [file] });
    await world.done(ada, 'PUT', `/messages/${id}`, { attachments: [] });
    expect(await statusOf(cyd, file.filename)).to.equal(404);
    expect(await statusOf(ada, file.filename)).to.equal(200);
    await world.done(ada, 'PUT', `/messages/${id}`, { attachments: [file] });
    expect(await statusOf(cyd, file.filename)).to.equal(200);
  });
});
