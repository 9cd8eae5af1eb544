/** Webhooks over HTTP, on two nodes: creation, messages, tokens and events. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { useChat } from '../../support/chat-scenario.js';
import { ask, EventStream, type Member } from '../../support/http-spec.js';

describe('webhooks of the chat', function () {
  this.timeout(60_000);
  const chat = useChat(2);
  let bob: Member;
  let eve: Member;
  let open: string;
  let closed: string;

  before(async () => {
    bob = await chat.join('bob');
    eve = await chat.join('eve');
    open = await channel('Builds');
    closed = await channel('Secrets', { isPrivate: true, members: [bob.id] });
  });

  const as = (token: string | undefined, method: string, path: string, body?: unknown, headers = {}) =>
    ask(chat.base, method, path, { token, body, headers });
  const channel = async (name: string, more = {}) =>
    (await as(chat.admin.token, 'POST', '/channels', { name, ...more })).body.channel.id as string;
  const create = (body: unknown, token: string | undefined = chat.admin.token, headers = {}) =>
    as(token, 'POST', '/webhooks', body, headers);
  const createdIn = async (name: string, channelId: string) => (await create({ name, channelId })).body.webhook;
  const postAs = (id: string, token: string | undefined, content: unknown, base = chat.base) =>
    ask(base, 'POST', `/webhooks/${id}/messages`, { token, body: { content } });
  const list = async () => (await as(chat.admin.token, 'GET', '/webhooks')).body.webhooks;
  const messagesOf = async (channelId: string, token = bob.token) =>
    (await as(token, 'GET', `/channels/${channelId}/messages`)).body.messages;

  it('are created by admins, and show their token once', async () => {
    const done = await create({ name: ' CI ', channelId: open });
    expect(done.status).to.equal(200);
    const { webhook } = done.body;
    expect(webhook).to.have.keys('id', 'name', 'channelId', 'token', 'createdAt', 'createdBy');
    expect(webhook).to.include({ name: 'CI', channelId: open, createdBy: chat.admin.id });
    expect(webhook.token).to.match(/^[0-9a-f]{64}$/);
    const listed = (await list()).find(({ id }: { id: string }) => id === webhook.id);
    const { token, ...rest } = webhook;
    expect(listed).to.deep.equal(rest);
    expect(JSON.stringify(await list())).not.to.include(token);
  });

  it('are created once per idempotency key, with the same token', async () => {
    const headers = { 'idempotency-key': 'one-hook' };
    const body = { name: 'Once', channelId: open };
    const first = await create(body, chat.admin.token, headers);
    const again = await create(body, chat.admin.token, headers);
    expect(again.body).to.deep.equal(first.body);
    expect((await create({ ...body, name: 'Twice' }, chat.admin.token, headers)).status).to.equal(422);
    expect((await list()).filter(({ name }: { name: string }) => name === 'Once')).to.have.length(1);
  });

  it('are for admins only', async () => {
    const { id } = await createdIn('Mine', open);
    for (const [token, status] of [
      [bob.token, 403],
      [undefined, 401],
    ] as const) {
      const refused = await Promise.all([
        ask(chat.base, 'POST', '/webhooks', { token, body: { name: 'x', channelId: open } }),
        ask(chat.base, 'GET', '/webhooks', { token }),
        ask(chat.base, 'DELETE', `/webhooks/${id}`, { token }),
      ]);
      expect(refused.map((each) => each.status)).to.deep.equal([status, status, status]);
      for (const each of refused) expect(each.body.error).to.be.a('string');
    }
  });

  it('require a name and an existing channel', async () => {
    for (const name of ['', ' ', 'x'.repeat(81), 7, undefined])
      expect((await create({ name, channelId: open })).status, String(name)).to.equal(400);
    for (const channelId of [undefined, 7, null])
      expect((await create({ name: 'x', channelId })).status, String(channelId)).to.equal(400);
    expect((await create({ name: 'x', channelId: 'unknown' })).status).to.equal(404);
    expect((await as(chat.admin.token, 'DELETE', '/webhooks/unknown')).status).to.equal(404);
  });

  it('post to their channel under their name, as a bot', async () => {
    const hook = await createdIn('Deploys', open);
    const stream = await EventStream.to(chat.bases[1]!, { token: eve.token });
    const done = await postAs(hook.id, hook.token, 'ready, @bob and @channel');
    expect(done.status).to.equal(200);
    const { message } = done.body;
    const author = { id: `webhook:${hook.id}`, userName: 'Deploys', isBot: true };
    expect(message).to.deep.include({ channelId: open, content: 'ready, @bob and @channel', author });
    expect(message.mentions).to.deep.equal([bob.id, '@channel']);
    expect(message.createdAt).to.be.a('number');
    expect((await messagesOf(open)).at(-1)).to.deep.equal(message);
    const [frames] = await stream.received(1, 'NEW_MESSAGE');
    expect(frames!.payload).to.deep.include({ id: message.id, author, mentions: message.mentions });
    const pinned = await as(bob.token, 'POST', `/messages/${message.id}/pin`);
    expect(pinned.body.message.author).to.deep.equal(author);
    const [updated] = await stream.received(1, 'UPDATE_MESSAGE');
    expect(updated!.payload.author).to.deep.equal(author);
    expect((await as(bob.token, 'GET', `/channels/${open}/pins`)).body.messages[0].author).to.deep.equal(author);
    const { history } = (await as(bob.token, 'GET', `/messages/${message.id}/history`)).body;
    expect(history[0].author).to.deep.equal(author);
    stream.close();
  });

  it('reject blank and oversized content', async () => {
    const hook = await createdIn('Short', open);
    for (const content of ['', ' \n', 'x'.repeat(8001), 7, null, undefined])
      expect((await postAs(hook.id, hook.token, content)).status, String(content)).to.equal(400);
    expect((await postAs(hook.id, hook.token, '😀'.repeat(8000))).status).to.equal(200);
  });

  it('authenticate with their own tokens only, on every node', async () => {
    const [one, two] = [await createdIn('One', open), await createdIn('Two', open)];
    for (const base of chat.bases) {
      expect((await postAs(one.id, one.token, 'hi', base)).status).to.equal(200);
      expect((await postAs(one.id, two.token, 'hi', base)).status).to.equal(403);
      expect((await postAs(one.id, undefined, 'hi', base)).status).to.equal(401);
      expect((await postAs(one.id, 'f'.repeat(64), 'hi', base)).status).to.equal(401);
      expect((await postAs(one.id, chat.admin.token, 'hi', base)).status).to.equal(401);
      expect((await postAs('unknown', one.token, 'hi', base)).status).to.equal(404);
    }
    const headers = { authorization: one.token };
    const bare = await ask(chat.base, 'POST', `/webhooks/${one.id}/messages`, {
      body: { content: 'x' },
      headers,
    });
    expect(bare.status).to.equal(401);
  });

  it('have no access to other routes', async () => {
    const { token } = await createdIn('Nobody', open);
    for (const [method, path, body] of [
      ['GET', '/channels', undefined],
      ['GET', `/channels/${open}/messages`, undefined],
      ['POST', `/channels/${open}/messages`, { content: 'x' }],
      ['GET', '/webhooks', undefined],
      ['GET', '/events', undefined],
      ['GET', '/auth/me', undefined],
    ] as const)
      expect((await as(token, method, path, body)).status, path).to.equal(401);
  });

  it('cannot post once removed; their messages stay', async () => {
    const hook = await createdIn('Gone', open);
    const { message } = (await postAs(hook.id, hook.token, 'still here')).body;
    const headers = { 'idempotency-key': 'removing' };
    const remove = () => as(chat.admin.token, 'DELETE', `/webhooks/${hook.id}`, undefined, headers);
    for (const done of [await remove(), await remove()])
      expect(done).to.deep.include({ status: 200, body: { success: true } });
    expect((await as(chat.admin.token, 'DELETE', `/webhooks/${hook.id}`)).status).to.equal(404);
    expect((await postAs(hook.id, hook.token, 'more')).status).to.equal(404);
    expect((await messagesOf(open)).map(({ id }: { id: string }) => id)).to.include(message.id);
    const remaining = (await messagesOf(open)).find(({ id }: { id: string }) => id === message.id);
    expect(remaining.author.userName).to.equal('Gone');
  });

  it('are removed with their channel', async () => {
    const short = await channel('Short-lived');
    const hook = await createdIn('Short-lived', short);
    await as(chat.admin.token, 'DELETE', `/channels/${short}`);
    expect((await list()).map(({ id }: { id: string }) => id)).not.to.include(hook.id);
    expect((await postAs(hook.id, hook.token, 'hi')).status).to.equal(404);
  });

  it('are announced, with their messages, to users who see the channel', async () => {
    const streams = await Promise.all([bob, eve, chat.admin].map(({ token }) => EventStream.to(chat.base, { token })));
    const hook = await createdIn('Quiet', closed);
    await postAs(hook.id, hook.token, 'psst');
    await as(chat.admin.token, 'DELETE', `/webhooks/${hook.id}`);
    const last = await createdIn('Loud', open);
    for (const [stream, canSee] of streams.map((each, index) => [each, index !== 1] as const)) {
      // The stream may also contain webhooks created before it started.
      const frames = await eventually(() => {
        const all = stream.frames.filter(({ type }) => type === 'NEW_WEBHOOK');
        return (
          all.some(({ payload }) => payload.id === last.id) &&
          all.filter(({ payload }) => [hook.id, last.id].includes(payload.id))
        );
      });
      expect(frames.map(({ payload }) => payload.name)).to.deep.equal(canSee ? ['Quiet', 'Loud'] : ['Loud']);
      expect(frames.at(-1)!.payload).to.include({ id: last.id, channelId: open, createdBy: chat.admin.id });
      expect(frames.at(-1)!.payload).not.to.have.any.keys('token', 'tokenHash');
      const others = stream.frames.filter(({ type }) => ['DELETE_WEBHOOK', 'NEW_MESSAGE'].includes(type));
      expect(others.map(({ type }) => type)).to.deep.equal(canSee ? ['NEW_MESSAGE', 'DELETE_WEBHOOK'] : []);
      if (canSee) expect(others[1]!.payload).to.deep.equal({ id: hook.id, channelId: closed });
      stream.close();
    }
  });
});
