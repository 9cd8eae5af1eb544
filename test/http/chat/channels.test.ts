/** Channels over HTTP: answers, visibility, rejections and idempotency. */
import { expect } from 'chai';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';
import type { Member } from '../../support/http-spec.js';

describe('channels of the chat', function () {
  this.timeout(60_000);
  let world: ChatWorld;
  before(async () => {
    world = await startChat();
  });
  after(() => world?.stop());

  let count = 0;
  const nextName = () => `channel ${++count}`;
  const make = (who: Member, body: object = {}) =>
    world.done(who, 'POST', '/channels', { name: nextName(), ...body }).then(({ channel }) => channel);
  const listed = async (who: Member): Promise<readonly { id: string; name: string }[]> =>
    (await world.done(who, 'GET', '/channels')).channels;
  const seenBy = async (id: string) => {
    const people = ['admin', 'ada', 'bob', 'cyd'] as const;
    const seen: string[] = [];
    for (const name of people) if ((await listed(world[name])).some((each) => each.id === id)) seen.push(name);
    return seen;
  };

  it('include General initially, created by the initial admin', async () => {
    const [general] = await listed(world.ada);
    expect(general).to.deep.include({
      name: 'General',
      isPrivate: false,
      createdBy: world.admin.id,
      members: [world.admin.id],
    });
  });

  it('are returned completely when created, with the creator as a member', async () => {
    const { ada, bob } = world;
    const name = nextName();
    const body = { name: `  ${name} `, topic: 'All of it', isPrivate: true, members: [bob.id] };
    const before = Date.now();
    const { channel } = await world.done(ada, 'POST', '/channels', body);
    expect(channel).to.deep.include({
      name,
      topic: 'All of it',
      isPrivate: true,
      members: [ada.id, bob.id],
      createdBy: ada.id,
    });
    expect(channel.id).to.be.a('string');
    expect(channel.createdAt).to.be.within(before - 5000, Date.now() + 5000);
    expect((await listed(ada)).find(({ id }) => id === channel.id)).to.deep.equal(channel);
    const plain = await make(ada);
    expect(plain).to.deep.include({ isPrivate: false, members: [ada.id] });
  });

  it('are listed in order of creation', async () => {
    const made = [await make(world.ada), await make(world.bob), await make(world.admin)];
    const ids = (await listed(world.cyd)).map(({ id }) => id);
    expect(ids.slice(-3)).to.deep.equal(made.map(({ id }) => id));
  });

  it('are visible to members and admins only while private', async () => {
    const { ada, bob } = world;
    const { id } = await make(ada, { isPrivate: true, members: [bob.id] });
    expect(await seenBy(id)).to.deep.equal(['admin', 'ada', 'bob']);
    await world.done(ada, 'PUT', `/channels/${id}`, { members: [] });
    expect(await seenBy(id)).to.deep.equal(['admin', 'ada']);
    await world.done(ada, 'PUT', `/channels/${id}`, { isPrivate: false });
    expect(await seenBy(id)).to.deep.equal(['admin', 'ada', 'bob', 'cyd']);
  });

  it('keep fields that an update does not mention, and are returned completely', async () => {
    const { ada, bob, admin } = world;
    const made = await make(ada, { topic: 'old', members: [bob.id] });
    const name = nextName();
    const { channel } = await world.done(ada, 'PUT', `/channels/${made.id}`, { name });
    expect(channel).to.deep.include({ ...made, name });
    expect(channel.updatedAt).to.be.at.least(made.createdAt);
    const again = await world.done(admin, 'PUT', `/channels/${made.id}`, { topic: '', members: [] });
    expect(again.channel).not.to.have.property('topic');
    expect(again.channel.members).to.deep.equal([ada.id]);
    const same = await world.done(ada, 'PUT', `/channels/${made.id}`, { name });
    expect(same.channel.updatedAt).to.equal(again.channel.updatedAt);
  });

  it('answer 404 once deleted, and release their name', async () => {
    const made = await make(world.ada);
    const deleted = await world.done(world.ada, 'DELETE', `/channels/${made.id}`);
    expect(deleted).to.deep.equal({ success: true });
    expect(await seenBy(made.id)).to.deep.equal([]);
    for (const [method, path, body] of [
      ['PUT', '', { topic: 'x' }],
      ['DELETE', '', undefined],
      ['GET', '/messages', undefined],
      ['POST', '/messages', { content: 'x' }],
      ['GET', '/pins', undefined],
    ] as const) {
      const { status, body: answer } = await world.as(world.admin, method, `/channels/${made.id}${path}`, body);
      expect(status, method + path).to.equal(404);
      expect(answer.error).to.be.a('string');
    }
    await world.done(world.bob, 'POST', '/channels', { name: made.name });
  });

  it('reject invalid requests and store nothing', async () => {
    const before = await listed(world.admin);
    const wrong: readonly object[] = [
      {},
      { name: '' },
      { name: '   ' },
      { name: 'x'.repeat(81) },
      { name: 7 },
      { name: 'general' },
      { name: ' GENERAL ' },
      { name: 'ok', topic: 'x'.repeat(501) },
      { name: 'ok', topic: 7 },
      { name: 'ok', isPrivate: 'yes' },
      { name: 'ok', members: 'ada' },
      { name: 'ok', members: ['nobody'] },
      { name: 'ok', members: [7] },
    ];
    for (const body of wrong) {
      const { status, body: answer } = await world.as(world.ada, 'POST', '/channels', body);
      expect(status, JSON.stringify(body)).to.equal(400);
      expect(answer.error).to.be.a('string');
    }
    expect(await listed(world.admin)).to.deep.equal(before);
    const own = await make(world.ada);
    for (const body of [{}, { other: 1 }, ...wrong.slice(1)]) {
      const { status } = await world.as(world.ada, 'PUT', `/channels/${own.id}`, body);
      expect(status, JSON.stringify(body)).to.equal(400);
    }
    const { status } = await world.as(world.ada, 'POST', '/channels', '{"name":');
    expect(status).to.equal(400);
    expect((await world.as(world.ada, 'PATCH', '/channels')).status).to.equal(405);
  });

  it('reject unauthorized changes with 403 for viewers, 404 for others and 401 without a token', async () => {
    const { ada, bob, cyd } = world;
    const open = await make(ada);
    const closed = await make(ada, { isPrivate: true, members: [bob.id] });
    for (const [id, who, expected] of [
      [open.id, bob, 403],
      [closed.id, bob, 403],
      [closed.id, cyd, 404],
      ['unknown', ada, 404],
      [open.id, undefined, 401],
    ] as const)
      for (const [method, body] of [
        ['PUT', { topic: 'x' }],
        ['DELETE', undefined],
      ] as const)
        expect((await world.as(who, method, `/channels/${id}`, body)).status, `${method} ${id}`).to.equal(expected);
    expect((await listed(ada)).filter(({ id }) => [open.id, closed.id].includes(id))).to.deep.equal([open, closed]);
    expect((await world.as(undefined, 'GET', '/channels')).status).to.equal(401);
    expect((await world.as(undefined, 'POST', '/channels', { name: 'x' })).status).to.equal(401);
  });

  it('are created and deleted once per idempotency key', async () => {
    const body = { name: nextName() };
    const headers = { 'idempotency-key': 'make-it-once' };
    const first = await world.as(world.ada, 'POST', '/channels', body, { headers });
    const again = await world.as(world.ada, 'POST', '/channels', body, { headers });
    expect(again.body).to.deep.equal(first.body);
    const other = await world.as(world.ada, 'POST', '/channels', { name: nextName() }, { headers });
    expect(other.status).to.equal(422);
    const options = { headers: { 'idempotency-key': 'delete-it-once' } };
    const path = `/channels/${first.body.channel.id}`;
    for (const round of [1, 2])
      expect((await world.as(world.ada, 'DELETE', path, {}, options)).status, `round ${round}`).to.equal(200);
  });
});
