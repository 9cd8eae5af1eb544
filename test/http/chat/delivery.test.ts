/** Recipients of events over real event streams: an admin, the acting user, a member and a non-member. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';
import { EventStream, type Frame } from '../../support/http-spec.js';

describe('event delivery of the chat', function () {
  this.timeout(60_000);
  const NAMES = ['admin', 'ada', 'bob', 'cyd'] as const;
  type Name = (typeof NAMES)[number];
  const ALL: readonly Name[] = NAMES;
  const MEMBERS: readonly Name[] = ['admin', 'ada', 'bob'];
  let world: ChatWorld;
  let general: string;
  let streams: { readonly [name in Name]: EventStream };
  let seen: { [name in Name]: number };
  let count = 0;

  before(async () => {
    world = await startChat();
    general = (await world.done(world.ada, 'GET', '/channels')).channels[0].id;
    const opened = await Promise.all(NAMES.map((name) => EventStream.to(world.base, { token: world[name].token })));
    streams = Object.fromEntries(NAMES.map((name, at) => [name, opened[at]])) as typeof streams;
    seen = { admin: 0, ada: 0, bob: 0, cyd: 0 };
  });
  after(async () => {
    for (const name of NAMES) streams?.[name].close();
    await world?.stop();
  });

  /** The frames that each user receives for `act`, between two marker messages that everybody receives. */
  async function frames(act: () => Promise<unknown>): Promise<{ readonly [name in Name]: readonly Frame[] }> {
    const content = `mark ${++count}`;
    await mark(`begin ${count}`);
    await act();
    await mark(content);
    return Object.fromEntries(
      NAMES.map((name) => {
        const all = streams[name].frames.filter(isSubject);
        const end = all.findIndex(({ payload }) => payload.content === content);
        const since = all.slice(seen[name], end);
        seen[name] = end + 1;
        return [name, since.slice(since.findIndex(({ payload }) => payload.content === `begin ${count}`) + 1)];
      }),
    ) as never;
  }
  async function mark(content: string) {
    await world.done(world.admin, 'POST', `/channels/${general}/messages`, { content });
    for (const name of NAMES)
      await eventually(() => streams[name].frames.some(({ payload }) => payload.content === content));
  }
  /** Presence updates arrive independently. */
  const isSubject = ({ type }: Frame) => type !== 'PRESENCE_UPDATE';
  const types = (all: readonly Frame[]) => all.map(({ type }) => type);

  /** Expects one event of this type for exactly these users, and no other events. */
  async function expectDelivered(
    who: readonly Name[],
    type: string,
    act: () => Promise<unknown>,
  ): Promise<Frame['payload']> {
    const received = await frames(act);
    for (const name of NAMES)
      expect(types(received[name]), `${name} of ${type}`).to.deep.equal(who.includes(name) ? [type] : []);
    const payloads = who.map((name) => received[name][0]!.payload);
    for (const each of payloads) expect(each).to.deep.equal(payloads[0]);
    return payloads[0];
  }

  const { ada, bob, cyd } = new Proxy({} as ChatWorld, {
    get: (_, name: Name) => ({
      do: (method: string, path: string, body?: unknown) => world.done(world[name], method, path, body),
    }),
  }) as unknown as {
    [name in Name]: { do(method: string, path: string, body?: unknown): ReturnType<ChatWorld['done']> };
  };

  for (const [kind, isPrivate, audience] of [
    ['public', false, ALL],
    ['private', true, MEMBERS],
  ] as const)
    it(`delivers everything in a ${kind} channel to all who see it, including the acting user`, async () => {
      const made = { name: `${kind} one`, isPrivate, members: [world.bob.id], topic: 'first' };
      // biome-ignore lint/suspicious/noExplicitAny: server answers are checked member by member.
      let answer: any;
      const storeAnswer = async (request: Promise<unknown>) => {
        answer = await request;
      };
      const created = await expectDelivered(audience, 'NEW_CHANNEL', () =>
        storeAnswer(ada.do('POST', '/channels', made)),
      );
      expect(created).to.deep.equal(answer.channel);
      const { id } = created;

      const post = () => storeAnswer(bob.do('POST', `/channels/${id}/messages`, { content: 'hello @ada' }));
      const message = await expectDelivered(audience, 'NEW_MESSAGE', post);
      expect(message).to.deep.equal(answer.message);
      expect(message.mentions).to.deep.equal([world.ada.id]);

      const path = `/messages/${message.id}`;
      const edit = () => storeAnswer(bob.do('PUT', path, { content: 'hi' }));
      const edited = await expectDelivered(audience, 'UPDATE_MESSAGE', edit);
      expect(edited).to.deep.equal(answer.message);

      for (const method of ['POST', 'DELETE']) {
        const pin = () => storeAnswer(ada.do(method, `${path}/pin`, {}));
        expect(await expectDelivered(audience, 'UPDATE_MESSAGE', pin)).to.deep.equal(answer.message);
        expect(types((await frames(pin)).ada), 'again').to.deep.equal([]);
      }

      for (const [method, type] of [
        ['POST', 'NEW_REACTION'],
        ['DELETE', 'DELETE_REACTION'],
      ] as const) {
        const react = () => ada.do(method, `${path}/reactions`, { reaction: '👍' });
        expect(await expectDelivered(audience, type, react)).to.deep.include({
          messageId: message.id,
          userId: world.ada.id,
          reaction: '👍',
          channelId: id,
        });
        expect(types((await frames(react)).ada), 'again').to.deep.equal([]);
      }

      const reply = await expectDelivered(audience, 'NEW_THREAD_REPLY', () =>
        storeAnswer(ada.do('POST', `${path}/thread`, { content: 'reply' })),
      );
      const ofParent = { parentMessageId: message.id, threadMeta: answer.threadMeta };
      expect(reply).to.deep.equal({ ...answer.reply, ...ofParent, reply: answer.reply });
      const own = `${path}/thread/${reply.reply.id}`;
      const changed = await expectDelivered(audience, 'UPDATE_THREAD_REPLY', () =>
        storeAnswer(ada.do('PUT', own, { content: 'new' })),
      );
      expect(changed).to.deep.equal({ ...answer.message, ...ofParent });
      expect(await expectDelivered(audience, 'DELETE_THREAD_REPLY', () => ada.do('DELETE', own))).to.deep.include({
        id: reply.reply.id,
        threadId: message.id,
        channelId: id,
        threadMeta: null,
      });

      const remove = () => world.done(world.admin, 'DELETE', path);
      expect(await expectDelivered(audience, 'DELETE_MESSAGE', remove)).to.deep.include({
        id: message.id,
        channelId: id,
      });

      const update = () => storeAnswer(ada.do('PUT', `/channels/${id}`, { topic: 'second' }));
      expect(await expectDelivered(audience, 'UPDATE_CHANNEL', update)).to.deep.equal(answer.channel);
      const last = () => ada.do('DELETE', `/channels/${id}`);
      expect(await expectDelivered(audience, 'DELETE_CHANNEL', last)).to.deep.equal({ id, name: `${kind} one` });
    });

  it('sends NEW_CHANNEL and DELETE_CHANNEL to users who gain or lose access', async () => {
    const { channel } = await ada.do('POST', '/channels', {
      name: 'club',
      isPrivate: true,
      members: [world.bob.id],
    });
    const path = `/channels/${channel.id}`;
    const post = () => ada.do('POST', `${path}/messages`, { content: 'hush' });
    const swap = await frames(() => ada.do('PUT', path, { members: [world.cyd.id] }));
    expect(types(swap.bob)).to.deep.equal(['DELETE_CHANNEL']);
    expect(types(swap.cyd)).to.deep.equal(['NEW_CHANNEL']);
    expect(types(swap.ada)).to.deep.equal(['UPDATE_CHANNEL']);
    expect(types(swap.admin)).to.deep.equal(['UPDATE_CHANNEL']);
    expect(swap.bob[0]!.payload).to.deep.equal({ id: channel.id, name: 'club' });
    await expectDelivered(['admin', 'ada', 'cyd'], 'NEW_MESSAGE', post);

    const opened = await frames(() => ada.do('PUT', path, { isPrivate: false }));
    expect(NAMES.map((name) => types(opened[name]))).to.deep.equal([
      ['UPDATE_CHANNEL'],
      ['UPDATE_CHANNEL'],
      ['NEW_CHANNEL'],
      ['UPDATE_CHANNEL'],
    ]);
    await expectDelivered(ALL, 'NEW_MESSAGE', post);
    const closed = await frames(() => ada.do('PUT', path, { isPrivate: true }));
    expect(NAMES.map((name) => types(closed[name]))).to.deep.equal([
      ['UPDATE_CHANNEL'],
      ['UPDATE_CHANNEL'],
      ['DELETE_CHANNEL'],
      ['UPDATE_CHANNEL'],
    ]);
    await expectDelivered(['admin', 'ada', 'cyd'], 'NEW_MESSAGE', post);
  });

  it('sends private channels to a new admin, and their removal to a former admin', async () => {
    const { channel } = await ada.do('POST', '/channels', { name: 'board', isPrivate: true });
    const role = (to: string) => world.done(world.admin, 'PUT', `/users/${world.bob.id}/role`, { role: to });
    const up = await frames(() => role('admin'));
    const ofChannel = (all: readonly Frame[]) =>
      types(all.filter(({ type, payload }) => type.endsWith('_CHANNEL') && payload.id === channel.id));
    expect(ofChannel(up.bob)).to.deep.equal(['NEW_CHANNEL']);
    const post = () => ada.do('POST', `/channels/${channel.id}/messages`, { content: 'hush' });
    await expectDelivered(['admin', 'ada', 'bob'], 'NEW_MESSAGE', post);
    const down = await frames(() => role('user'));
    expect(ofChannel(down.bob)).to.deep.equal(['DELETE_CHANNEL']);
    for (const name of ['admin', 'ada', 'cyd'] as const)
      expect([...ofChannel(up[name]), ...ofChannel(down[name])]).to.deep.equal([]);
    await expectDelivered(['admin', 'ada'], 'NEW_MESSAGE', post);
  });

  it('sends a changed server name to everybody', async () => {
    const rename = () => world.done(world.admin, 'PUT', '/server/settings', { name: 'The Office' });
    expect(await expectDelivered(ALL, 'UPDATE_SERVER_SETTINGS', rename)).to.deep.equal({ name: 'The Office' });
    await expectDelivered([], 'UPDATE_SERVER_SETTINGS', rename);
    const refused = () => world.as(world.cyd, 'PUT', '/server/settings', { name: 'Mine' });
    await expectDelivered([], 'UPDATE_SERVER_SETTINGS', refused);
  });

  it('delivers direct messages to the two participants only', async () => {
    const two: readonly Name[] = ['ada', 'cyd'];
    const begun = await frames(() => ada.do('POST', '/conversations', { targetUserId: world.cyd.id }));
    for (const name of NAMES) expect(types(begun[name])).to.deep.equal(two.includes(name) ? ['NEW_CONVERSATION'] : []);
    const { id, participants } = begun.ada[0]!.payload;
    expect(participants).to.deep.equal([world.ada.id, world.cyd.id].sort());
    expect(begun.ada[0]!.payload).to.have.property('createdAt').that.is.a('number');
    expect(begun.cyd[0]!.payload.otherUser.id).to.equal(world.ada.id);
    expect(
      types((await frames(() => cyd.do('POST', '/conversations', { targetUserId: world.ada.id }))).cyd),
    ).to.deep.equal([]);

    const direct = { conversationId: id, participants, channelId: id };
    const path = `/conversations/${id}/messages`;
    const posted = await expectDelivered(two, 'NEW_DM_MESSAGE', () => ada.do('POST', path, { content: 'psst' }));
    expect(posted).to.deep.include({
      ...direct,
      content: 'psst',
      author: { id: world.ada.id, userName: 'ada' },
    });
    const edit = () => ada.do('PUT', `${path}/${posted.id}`, { content: 'hey' });
    expect(await expectDelivered(two, 'UPDATE_DM_MESSAGE', edit)).to.deep.include({
      ...direct,
      id: posted.id,
      content: 'hey',
    });
    const react = () => cyd.do('POST', `/messages/${posted.id}/reactions`, { reaction: '👍' });
    expect(await expectDelivered(two, 'NEW_REACTION', react)).to.deep.include({
      messageId: posted.id,
      reaction: '👍',
    });
    const remove = () => world.done(world.admin, 'DELETE', `${path}/${posted.id}`);
    expect(await expectDelivered(two, 'DELETE_DM_MESSAGE', remove)).to.deep.include({ ...direct, id: posted.id });
  });

  it('resumes with missed events that the user may still see, and with the removal of lost channels', async () => {
    const { channel: retained } = await ada.do('POST', '/channels', {
      name: 'kept',
      isPrivate: true,
      members: [world.cyd.id],
    });
    const { channel: revoked } = await ada.do('POST', '/channels', {
      name: 'lost',
      isPrivate: true,
      members: [world.cyd.id],
    });
    const first = await EventStream.to(world.base, { token: world.cyd.token });
    await ada.do('POST', `/channels/${retained.id}/messages`, { content: 'before' });
    await first.received(1, 'NEW_MESSAGE');
    first.close();
    await ada.do('POST', `/channels/${revoked.id}/messages`, { content: 'of lost' });
    await ada.do('POST', `/channels/${retained.id}/messages`, { content: 'of kept' });
    await ada.do('PUT', `/channels/${revoked.id}`, { members: [] });
    await ada.do('POST', `/channels/${revoked.id}/messages`, { content: 'of lost too' });
    await mark('the end');
    const headers = { 'last-event-id': first.ids.at(-1)! };
    const again = await EventStream.to(world.base, { token: world.cyd.token, headers });
    await eventually(() => again.frames.some(({ payload }) => payload?.content === 'the end'));
    const missed = again.frames
      .slice(1)
      .filter(isSubject)
      .map(({ type, payload }) => [type, payload.content ?? payload.id]);
    expect(missed).to.deep.equal([
      ['NEW_MESSAGE', 'of kept'],
      ['DELETE_CHANNEL', revoked.id],
      ['NEW_MESSAGE', 'the end'],
    ]);
    again.close();
  });
});
