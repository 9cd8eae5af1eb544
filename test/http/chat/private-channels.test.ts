/** Private channels: everybody else gets 404, even with the ids of their messages. */
import { expect } from 'chai';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';

describe('private channel of the chat', function () {
  this.timeout(60_000);
  let world: ChatWorld;
  let channel: string;
  let message: string;
  let reply: string;

  before(async () => {
    world = await startChat();
    const { ada, bob, done } = world;
    const body = { name: 'secret', isPrivate: true, members: [bob.id] };
    channel = (await done(ada, 'POST', '/channels', body)).channel.id;
    message = (await done(ada, 'POST', `/channels/${channel}/messages`, { content: 'hush' })).message.id;
    reply = (await done(bob, 'POST', `/messages/${message}/thread`, { content: 'hush' })).reply.id;
  });
  after(() => world?.stop());

  const requests = () =>
    [
      ['PUT', `/channels/${channel}`, { topic: 'x' }],
      ['DELETE', `/channels/${channel}`, undefined],
      ['GET', `/channels/${channel}/messages`, undefined],
      ['POST', `/channels/${channel}/messages`, { content: 'x' }],
      ['GET', `/channels/${channel}/pins`, undefined],
      ['PUT', `/messages/${message}`, { content: 'x' }],
      ['DELETE', `/messages/${message}`, undefined],
      ['POST', `/messages/${message}/pin`, {}],
      ['DELETE', `/messages/${message}/pin`, undefined],
      ['POST', `/messages/${message}/reactions`, { reaction: '+1' }],
      ['DELETE', `/messages/${message}/reactions`, { reaction: '+1' }],
      ['GET', `/messages/${message}/history`, undefined],
      ['GET', `/messages/${reply}/history`, undefined],
      ['GET', `/messages/${message}/thread`, undefined],
      ['POST', `/messages/${message}/thread`, { content: 'x' }],
      ['GET', `/messages/${reply}/thread`, undefined],
      ['PUT', `/messages/${message}/thread/${reply}`, { content: 'x' }],
      ['DELETE', `/messages/${message}/thread/${reply}`, undefined],
    ] as const;

  const state = async () => ({
    messages: (await world.done(world.ada, 'GET', `/channels/${channel}/messages`)).messages,
    replies: (await world.done(world.ada, 'GET', `/messages/${message}/thread`)).replies,
    channels: (await world.done(world.ada, 'GET', '/channels')).channels,
  });

  it('answers 404 to non-members on every route below it, and changes nothing', async () => {
    const before = await state();
    for (const [method, path, body] of requests()) {
      const answered = await world.as(world.cyd, method, path, body);
      expect(answered.status, `${method} ${path}`).to.equal(404);
      expect(JSON.stringify(answered.body)).not.to.match(/hush|secret/);
    }
    const general = before.channels[0].id;
    const quoting = { content: 'x', quotedMessageId: message };
    expect((await world.as(world.cyd, 'POST', `/channels/${general}/messages`, quoting)).status).to.equal(400);
    const paging = `/channels/${general}/messages?before=${message}`;
    expect((await world.as(world.cyd, 'GET', paging)).status).to.equal(400);
    expect(await state()).to.deep.equal(before);
  });

  it('answers 401 without a valid token', async () => {
    for (const [method, path, body] of requests()) {
      expect((await world.as(undefined, method, path, body)).status, `${method} ${path}`).to.equal(401);
      const more = { headers: { authorization: 'Bearer wrong' } };
      expect((await world.as(undefined, method, path, body, more)).status).to.equal(401);
    }
  });

  it('is readable by members and admins, and no longer by removed members', async () => {
    const { bob, admin, ada } = world;
    const read = async (who: typeof bob) => (await world.as(who, 'GET', `/channels/${channel}/messages`)).status;
    expect([await read(bob), await read(admin), await read(ada)]).to.deep.equal([200, 200, 200]);
    await world.done(ada, 'PUT', `/channels/${channel}`, { members: [] });
    expect([await read(bob), await read(admin), await read(ada)]).to.deep.equal([404, 200, 200]);
    const own = `/messages/${message}/thread/${reply}`;
    expect((await world.as(bob, 'PUT', own, { content: 'x' })).status, 'his own reply').to.equal(404);
    await world.done(ada, 'PUT', `/channels/${channel}`, { members: [bob.id] });
    expect(await read(bob)).to.equal(200);
  });

  it('is no longer readable by former admins', async () => {
    const eve = await world.join('eve');
    const read = async () => (await world.as(eve, 'GET', `/channels/${channel}/messages`)).status;
    expect(await read()).to.equal(404);
    await world.done(world.admin, 'PUT', `/users/${eve.id}/role`, { role: 'admin' });
    expect(await read()).to.equal(200);
    await world.done(world.admin, 'PUT', `/users/${eve.id}/role`, { role: 'user' });
    expect(await read()).to.equal(404);
    await world.done(world.admin, 'DELETE', `/users/${eve.id}`);
    expect(await read()).to.equal(401);
  });
});
