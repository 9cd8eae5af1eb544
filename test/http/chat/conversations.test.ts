/** Direct messages over HTTP: conversations of two users, invisible to everybody else. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';
import type { Member } from '../../support/http-spec.js';

describe('conversations of the chat', function () {
  this.timeout(60_000);
  let world: ChatWorld;
  before(async () => {
    world = await startChat();
  });
  after(() => world?.stop());

  const start = (who: Member, other: Member) => world.done(who, 'POST', '/conversations', { targetUserId: other.id });
  const post = async (who: Member, id: string, content: string) =>
    (await world.done(who, 'POST', `/conversations/${id}/messages`, { content })).message;
  const read = async (who: Member, id: string, query = '') =>
    (await world.done(who, 'GET', `/conversations/${id}/messages${query}`)).messages;
  const list = async (who: Member) => (await world.done(who, 'GET', '/conversations')).conversations;

  it('are created once, whichever of the two starts', async () => {
    const { ada, bob } = world;
    const ids = [ada.id, bob.id].sort();
    const first = await start(ada, bob);
    expect(first.isNew).to.equal(true);
    expect(first.conversation).to.deep.include({
      id: `dm:${ids.join('_')}`,
      participants: ids,
      otherUser: { id: bob.id, userName: 'bob' },
      lastMessageAt: null,
    });
    const again = await start(bob, ada);
    expect(again.isNew).to.equal(false);
    expect(again.conversation).to.deep.include({
      id: first.conversation.id,
      otherUser: { id: ada.id, userName: 'ada' },
    });
  });

  it('reject an idempotency key that was used with another user', async () => {
    const [one, two, three] = [await world.join('one'), await world.join('two'), await world.join('three')];
    await start(one, three);
    for (const others of [
      [two, three],
      [three, two],
    ]) {
      const headers = { 'Idempotency-Key': randomUUID() };
      const startWith = (other?: Member) =>
        world.as(one, 'POST', '/conversations', { targetUserId: other!.id }, { headers });
      const first = await startWith(others[0]);
      expect(first.status).to.equal(200);
      expect((await startWith(others[0])).body).to.deep.equal(first.body);
      expect((await startWith(others[1])).status).to.equal(422);
    }
  });

  it('require another existing user', async () => {
    for (const body of [{}, { targetUserId: 'nobody' }, { targetUserId: 7 }, { targetUserId: world.ada.id }])
      expect((await world.as(world.ada, 'POST', '/conversations', body)).status).to.equal(400);
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', { targetUserId: world.ada.id }],
    ] as const)
      expect((await world.as(undefined, method, '/conversations', body)).status).to.equal(401);
  });

  it('are listed by their latest message, for each participant', async () => {
    const [eve, fay, gus] = [await world.join('eve'), await world.join('fay'), await world.join('gus')];
    const one = (await start(eve, fay)).conversation.id;
    const two = (await start(gus, eve)).conversation.id;
    const listedIds = async (who: Member) => (await list(who)).map(({ id }: { id: string }) => id);
    expect(await listedIds(eve)).to.deep.equal([two, one]);
    const { createdAt } = await post(fay, one, 'hello');
    expect(await listedIds(eve)).to.deep.equal([one, two]);
    const [first, second] = await list(eve);
    expect(first).to.deep.include({ lastMessageAt: createdAt, otherUser: { id: fay.id, userName: 'fay' } });
    expect(second).to.deep.include({ lastMessageAt: null, otherUser: { id: gus.id, userName: 'gus' } });
    expect(await listedIds(fay)).to.deep.equal([one]);
    expect((await start(eve, fay)).conversation.lastMessageAt).to.equal(createdAt);
  });

  it('return their messages in pages', async () => {
    const [hal, ivy] = [await world.join('hal'), await world.join('ivy')];
    const { id } = (await start(hal, ivy)).conversation;
    const posted = [await post(hal, id, 'one'), await post(ivy, id, 'two'), await post(hal, id, 'three')];
    expect(posted[0]).to.deep.include({
      channelId: id,
      author: { id: hal.id, userName: 'hal' },
      content: 'one',
    });
    expect(await read(ivy, id)).to.deep.equal(posted);
    expect(await read(hal, id, `?limit=1&before=${posted[2].id}`)).to.deep.equal([posted[1]]);
    await world.done(hal, 'DELETE', `/conversations/${id}/messages/${posted[2].id}`);
    expect(await read(hal, id, `?limit=1&before=${posted[2].id}`), 'deleted').to.deep.equal([posted[1]]);
    const { status } = await world.as(hal, 'GET', `/conversations/${id}/messages?before=unknown`);
    expect(status).to.equal(400);
    const own = `/conversations/${id}/messages/${posted[0].id}`;
    for (const body of [{}, { quotedMessageId: posted[0].id }])
      expect((await world.as(hal, 'PUT', own, body)).status, JSON.stringify(body)).to.equal(400);
    for (const body of [{}, { content: ' ' }, { content: 'x'.repeat(8001) }])
      expect((await world.as(hal, 'POST', `/conversations/${id}/messages`, body)).status).to.equal(400);
  });

  it('let authors edit, and authors or admins delete messages, through either route', async () => {
    const { ada, bob, admin } = world;
    const { id } = (await start(ada, bob)).conversation;
    for (const path of [
      (each: string) => `/messages/${each}`,
      (each: string) => `/conversations/${id}/messages/${each}`,
    ]) {
      const message = await post(ada, id, 'hello');
      const edited = (await world.done(ada, 'PUT', path(message.id), { content: 'hi' })).message;
      expect(edited).to.deep.include({ id: message.id, content: 'hi', channelId: id });
      expect((await read(bob, id)).at(-1)).to.deep.equal(edited);
      expect((await world.as(bob, 'PUT', path(message.id), { content: 'x' })).status).to.equal(403);
      expect((await world.as(bob, 'DELETE', path(message.id))).status).to.equal(403);
      expect((await world.as(admin, 'PUT', path(message.id), { content: 'x' })).status).to.equal(404);
      await world.done(ada, 'DELETE', path(message.id));
      expect((await world.as(ada, 'DELETE', path(message.id))).status).to.equal(404);
      const another = await post(bob, id, 'bye');
      await world.done(admin, 'DELETE', path(another.id));
    }
    expect(await read(ada, id)).to.deep.equal([]);
  });

  it('support reactions and history, but neither pins nor threads', async () => {
    const { ada, bob } = world;
    const { id } = (await start(ada, bob)).conversation;
    const message = await post(ada, id, 'hello');
    const path = `/messages/${message.id}`;
    const { message: reacted } = await world.done(bob, 'POST', `${path}/reactions`, { reaction: '👍' });
    expect(reacted.reactions).to.deep.equal({ '👍': [bob.id] });
    expect((await read(ada, id)).at(-1).reactions).to.deep.equal({ '👍': [bob.id] });
    expect((await world.done(bob, 'GET', `${path}/history`)).history).to.have.length(1);
    for (const [method, more, body] of [
      ['POST', '/pin', {}],
      ['DELETE', '/pin', undefined],
      ['POST', '/thread', { content: 'x' }],
      ['GET', '/thread', undefined],
    ] as const)
      expect((await world.as(ada, method, path + more, body)).status, method + more).to.equal(400);
  });

  it('answer 404 to everybody else, even to admins', async () => {
    const { ada, bob } = world;
    const { id } = (await start(ada, bob)).conversation;
    const message = await post(ada, id, 'between us');
    for (const who of [world.cyd, world.admin]) {
      expect((await list(who)).map((each: { id: string }) => each.id)).not.to.include(id);
      const path = `/messages/${message.id}`;
      const direct = `/conversations/${id}/messages`;
      for (const [method, route, body] of [
        ['GET', direct, undefined],
        ['POST', direct, { content: 'x' }],
        ['PUT', `${direct}/${message.id}`, { content: 'x' }],
        ['PUT', path, { content: 'x' }],
        ['GET', `/channels/${id}/messages`, undefined],
        ['POST', `/channels/${id}/messages`, { content: 'x' }],
        ['POST', `${path}/reactions`, { reaction: '👍' }],
        ['DELETE', `${path}/reactions`, { reaction: '👍' }],
        ['POST', `${path}/pin`, {}],
        ['GET', `${path}/thread`, undefined],
        ['GET', `${path}/history`, undefined],
      ] as const) {
        const { status, body: frames } = await world.as(who, method, route, body);
        expect(status, `${method} ${route}`).to.equal(404);
        expect(JSON.stringify(frames)).not.to.include('between us');
      }
    }
    for (const path of [`/messages/${message.id}`, `/conversations/${id}/messages/${message.id}`])
      expect((await world.as(world.cyd, 'DELETE', path)).status).to.equal(404);
    const other = (await start(ada, world.cyd)).conversation.id;
    for (const [method, body] of [
      ['PUT', { content: 'x' }],
      ['DELETE', undefined],
    ] as const)
      expect(
        (await world.as(ada, method, `/conversations/${other}/messages/${message.id}`, body)).status,
        'of another conversation',
      ).to.equal(404);
    expect((await read(bob, id)).at(-1)).to.deep.equal(message);
    for (const unknown of ['dm:x_y', 'unknown', `dm:${[ada.id, 'x'.repeat(22)].sort().join('_')}`])
      expect((await world.as(ada, 'GET', `/conversations/${unknown}/messages`)).status).to.equal(404);
  });
});
