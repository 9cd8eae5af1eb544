/** Users over HTTP, on two nodes: roles, names, leaving and removal. */
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { chat } from '../../../bin/services/chat.js';
import { type Answered, ask, devLogin, EventStream, type Member } from '../../support/http-spec.js';
import { type RunningNode, startNode } from '../../support/node.js';

describe('users of the chat', function () {
  this.timeout(60_000);
  let servers: Servers;
  let nodes: readonly [RunningNode, RunningNode];
  let base: string;
  let other: string;
  let ada: Member;

  before(async () => {
    servers = await startServers();
    const flags = {
      '--chat-port': '0',
      '--mongo-database': 'test_chat_users',
      '--secret': 'a secret that both of the nodes have got',
      '--auth-is-invite-required': 'false',
      '--auth-max-active-sessions': '100',
      '--chat-initial-user-email': 'ada@example.org',
    };
    const start = () => startNode([chat], { servers, flags });
    // Concurrent starts on an empty log create one admin.
    nodes = await Promise.all([start(), start()]);
    [base, other] = [nodes[0].url('chat'), nodes[1].url('chat')];
    ada = await devLogin(base, 'ada@example.org');
  });
  after(async () => {
    for (const node of nodes ?? []) await node.stop();
    await servers?.stop();
  });

  const email = (name: string) => `${name}@example.org`;
  const join = (name: string) => devLogin(base, email(name));
  const list = async (at = base, headers = {}) =>
    (await ask(at, 'GET', '/users', { token: ada.token, headers })).body.users as ListedUser[];
  const named = async (id: string) => (await list()).find((each) => each.id === id);
  const role = (id: string, newRole: unknown, token = ada.token, at = base) =>
    ask(at, 'PUT', `/users/${id}/role`, { token, body: { role: newRole } });
  const remove = (id: string, token = ada.token, at = base) => ask(at, 'DELETE', `/users/${id}`, { token });
  const rename = (token: string, userName: unknown, at = base) =>
    ask(at, 'PUT', '/users/me', { token, body: { userName } });
  const status = ({ status }: Answered) => status;
  interface ListedUser {
    readonly id: string;
    readonly userName: string;
    readonly isAdmin: boolean;
    readonly createdAt: number;
  }

  it('include one initial admin, however many nodes start concurrently', async () => {
    expect((await list()).filter(({ isAdmin }) => isAdmin)).to.have.length(1);
    expect(await named(ada.id)).to.include({ userName: 'Admin', isAdmin: true });
  });

  it('are listed in order of joining, without emails', async () => {
    const [bob, carol] = [await join('bob'), await join('carol')];
    const users = await list();
    expect(users.map(({ id }) => id).slice(0, 3)).to.deep.equal([ada.id, bob.id, carol.id]);
    for (const user of users) expect(user).to.have.keys('id', 'userName', 'isAdmin', 'createdAt');
    expect(await ask(base, 'GET', '/users')).to.include({ status: 401 });
  });

  it('are listed on another node, given the position', async () => {
    const dora = await join('dora');
    const { headers } = await ask(base, 'GET', '/users', { token: ada.token });
    const position = { 'if-position': headers.get('position') ?? '' };
    expect((await list(other, position)).map(({ id }) => id)).to.include(dora.id);
    // Her token is valid there immediately.
    expect(status(await ask(other, 'GET', '/auth/me', { token: dora.token }))).to.equal(200);
  });

  it('change their names, which are unique ignoring case', async () => {
    const [ed, fay] = [await join('ed'), await join('fay')];
    const done = await rename(ed.token, '  Edward \n Elric ');
    expect(done).to.deep.include({
      status: 200,
      body: { user: { id: ed.id, userName: 'Edward Elric', isAdmin: false } },
    });
    expect(await named(ed.id)).to.include({ userName: 'Edward Elric' });
    for (const wrong of ['EDWARD elric', '', '  ', 'x'.repeat(65), 7, undefined]) {
      const refused = await rename(fay.token, wrong);
      expect(refused.status, String(wrong)).to.equal(400);
      expect(refused.body.error).to.be.a('string');
    }
    expect(status(await rename(fay.token, 'x'.repeat(64)))).to.equal(200);
    expect(status(await ask(base, 'PUT', '/users/me', { body: { userName: 'x' } }))).to.equal(401);
  });

  it('get roles from admins only', async () => {
    const gus = await join('gus');
    const made = await role(gus.id, 'admin');
    expect(made.status).to.equal(200);
    expect(made.body.user).to.deep.include({ id: gus.id, userName: 'gus', isAdmin: true });
    expect(made.body.user.createdAt).to.be.a('number');
    expect(status(await role(gus.id, 'admin'))).to.equal(200);
    // Roles are read from the log, not from the token.
    expect(status(await role(ada.id, 'admin', gus.token))).to.equal(200);
    expect((await role(gus.id, 'user')).body.user.isAdmin).to.equal(false);
    expect(status(await role(ada.id, 'admin', gus.token))).to.equal(403);
    for (const wrong of ['owner', '', 1, undefined])
      expect(status(await role(gus.id, wrong)), String(wrong)).to.equal(400);
    expect(status(await role('unknown', 'admin'))).to.equal(400);
    expect(status(await role(gus.id, 'admin', gus.token))).to.equal(403);
    expect(status(await ask(base, 'PUT', `/users/${gus.id}/role`, { body: { role: 'user' } }))).to.equal(401);
  });

  it('always include an admin', async () => {
    const last = await role(ada.id, 'user');
    expect(last.status).to.equal(400);
    expect(last.body.error).to.be.a('string');
    expect(status(await remove(ada.id))).to.equal(400);
    expect(status(await ask(base, 'POST', '/users/exit', { token: ada.token }))).to.equal(400);
    expect(status(await ask(base, 'GET', '/auth/me', { token: ada.token }))).to.equal(200);
  });

  it('are removed by admins, which ends their sessions and streams on every node', async () => {
    const hal = await join('hal');
    expect(status(await remove(hal.id, hal.token))).to.equal(403);
    expect(status(await remove('unknown'))).to.equal(404);
    const listening = await Promise.all([base, other].map((at) => EventStream.to(at, { token: hal.token })));
    const done = await remove(hal.id);
    expect(done).to.deep.include({ status: 200, body: { success: true } });
    expect(status(await ask(base, 'GET', '/auth/me', { token: hal.token }))).to.equal(401);
    await eventually(async () => status(await ask(other, 'GET', '/auth/me', { token: hal.token })) === 401);
    expect(status(await ask(base, 'POST', '/auth/refresh', { body: { refreshToken: hal.refreshToken } }))).to.equal(
      401,
    );
    for (const stream of listening) {
      await eventually(() => stream.ended);
      expect(stream.frames.at(-1)).to.deep.include({ type: 'REMOVE_USER' });
      expect(stream.frames.at(-1)!.payload).to.include({ id: hal.id, email: email('hal') });
    }
    expect(status(await remove(hal.id))).to.equal(404);
    const again = await join('hal');
    expect(again.id).not.to.equal(hal.id);
  });

  it('leave, with the same answer for the same idempotency key', async () => {
    const ida = await join('ida');
    const headers = { 'idempotency-key': 'leaving' };
    const exit = () => ask(base, 'POST', '/users/exit', { token: ida.token, headers });
    const [first, again] = [await exit(), await exit()];
    expect(first.status).to.equal(200);
    expect(first.body.success).to.equal(true);
    expect(first.body.message).to.be.a('string');
    expect(again.body).to.deep.equal(first.body);
    expect(status(await ask(base, 'POST', '/users/exit', { token: ida.token }))).to.equal(401);
    expect(await named(ida.id)).to.equal(undefined);
  });

  it('may remove themselves as admins while there is another', async () => {
    const jon = await join('jon');
    await role(jon.id, 'admin');
    const headers = { 'idempotency-key': 'going' };
    const removeSelf = () => ask(base, 'DELETE', `/users/${jon.id}`, { token: jon.token, headers });
    const [first, again] = [await removeSelf(), await removeSelf()];
    expect([first.status, again.status]).to.deep.equal([200, 200]);
    expect(again.body).to.deep.equal(first.body);
    expect(await named(jon.id)).to.equal(undefined);
  });

  it('are announced when they join, rename, change role and leave', async () => {
    const stream = await EventStream.to(other, { token: ada.token });
    const kim = await join('kim');
    await rename(kim.token, 'Kimberly');
    await role(kim.id, 'admin');
    await ask(base, 'POST', '/users/exit', { token: kim.token });
    const events = await eventually(() => {
      const frames = stream.frames.filter(({ payload }) => payload.id === kim.id);
      return frames.some(({ type }) => type === 'USER_EXIT') && frames;
    });
    expect(events.map(({ type }) => type)).to.deep.equal(['NEW_USER', 'UPDATE_USER', 'UPDATE_USER', 'USER_EXIT']);
    const [made, named_, promoted, departed] = events.map(({ payload }) => payload);
    expect(made).to.include({ userName: 'kim', email: email('kim'), isAdmin: false });
    expect(made.createdAt).to.be.a('number');
    expect(named_).to.include({ userName: 'Kimberly', isAdmin: false });
    expect(promoted).to.include({ userName: 'Kimberly', isAdmin: true });
    expect(departed).to.include({ userName: 'Kimberly' });
    stream.close();
  });

  it('receive missed events when they reconnect', async () => {
    const first = await EventStream.to(base, { token: ada.token });
    const cursor = first.ids.at(-1)!;
    first.close();
    const lea = await join('lea');
    for (const at of [base, other])
      for (const how of [{ headers: { 'last-event-id': cursor }, query: '' }, { query: `?lastEventId=${cursor}` }]) {
        const back = await EventStream.to(at, { token: ada.token, ...how }, how.query);
        // A user added shortly before the first stream is delivered too.
        await eventually(() => back.frames.some(({ type, payload }) => type === 'NEW_USER' && payload.id === lea.id));
        back.close();
      }
  });

  it('keep one admin when two demote each other concurrently, in fifty rounds on one node and on two', async () => {
    const [one, two] = [await join('max'), await join('ned')];
    await role(one.id, 'admin');
    await role(two.id, 'admin');
    await role(ada.id, 'user', one.token);
    for (let round = 0; round < 50; round++) {
      const secondBase = round % 2 ? base : other;
      const [a, b] = await Promise.all([
        role(two.id, 'user', one.token, base),
        role(one.id, 'user', two.token, secondBase),
      ]);
      expect([a.status, b.status]).to.have.members([200, 403]);
      const admins = (await list()).filter(({ isAdmin }) => isAdmin).map(({ id }) => id);
      const [winner, loser] = a.status === 200 ? [one, two] : [two, one];
      expect(admins).to.deep.equal([winner.id]);
      await eventually(async () => status(await role(loser.id, 'admin', winner.token, secondBase)) === 200);
      await eventually(async () => status(await role(loser.id, 'admin', loser.token, secondBase)) === 200);
    }
    await role(ada.id, 'admin', one.token);
  });

  it('are created once per email in concurrent sign-ins, in fifty rounds on one node and on two', async () => {
    for (let round = 0; round < 50; round++) {
      const body = { email: email(`race-${round}`) };
      const secondBase = round % 2 ? base : other;
      const both = await Promise.all([base, secondBase].map((at) => ask(at, 'POST', '/auth/dev-login', { body })));
      expect(both.map(status)).to.deep.equal([200, 200]);
      const [a, b] = both.map(({ body: { user } }) => user);
      expect(a).to.deep.equal(b);
    }
  });
});
