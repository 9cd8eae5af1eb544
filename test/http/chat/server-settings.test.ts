/** Server settings of the chat over HTTP, on two nodes. */
import { expect } from 'chai';
import { useChat } from '../../support/chat-scenario.js';
import { ask, EventStream } from '../../support/http-spec.js';

describe('settings of the chat server', function () {
  this.timeout(60_000);
  const chat = useChat(2);
  const get = (token?: string, base = chat.base, headers = {}) =>
    ask(base, 'GET', '/server/settings', { token, headers });
  const put = (body: unknown, token: string | undefined = chat.admin.token, headers = {}) =>
    ask(chat.base, 'PUT', '/server/settings', { token, body, headers });

  it('have an initial name, which signed-in users can read', async () => {
    const bob = await chat.join('bob');
    expect(await get(bob.token)).to.deep.include({ status: 200, body: { name: 'Annals' } });
    const anonymous = await get();
    expect(anonymous.status).to.equal(401);
    expect(anonymous.body.error).to.be.a('string');
  });

  it('are set by admins, trimmed, and delivered to everybody on every node', async () => {
    const bob = await chat.join('bob');
    const streams = await Promise.all(chat.bases.map((base) => EventStream.to(base, { token: bob.token })));
    const done = await put({ name: '  The Office ', ignored: true });
    expect(done).to.deep.include({ status: 200, body: { name: 'The Office' } });
    const position = { 'if-position': done.headers.get('position') ?? '' };
    for (const base of chat.bases)
      expect((await get(bob.token, base, position)).body).to.deep.equal({ name: 'The Office' });
    for (const stream of streams) {
      const [frames] = await stream.received(1, 'UPDATE_SERVER_SETTINGS');
      expect(frames!.payload).to.deep.equal({ name: 'The Office' });
      stream.close();
    }
  });

  it('announce no change when the name stays the same', async () => {
    const stream = await EventStream.to(chat.base, { token: chat.admin.token });
    await put({ name: 'Same' });
    expect((await put({ name: 'Same' })).status).to.equal(200);
    await put({ name: 'Other' });
    const frames = await stream.received(2, 'UPDATE_SERVER_SETTINGS');
    expect(frames.map(({ payload }) => payload.name)).to.deep.equal(['Same', 'Other']);
    stream.close();
  });

  it('require a name of 1 to 80 characters', async () => {
    expect((await put({ name: '😀'.repeat(80) })).status).to.equal(200);
    for (const name of ['', '  ', 'x'.repeat(81), 7, null, undefined, ['x']]) {
      const refused = await put({ name });
      expect(refused.status, String(name)).to.equal(400);
      expect(refused.body.error).to.be.a('string');
    }
    expect((await get(chat.admin.token)).body.name).to.equal('😀'.repeat(80));
  });

  it('cannot be set by users or without a token', async () => {
    const eve = await chat.join('eve');
    expect((await put({ name: 'Mine' }, eve.token)).status).to.equal(403);
    expect((await ask(chat.base, 'PUT', '/server/settings', { body: { name: 'Mine' } })).status).to.equal(401);
  });

  it('are set once per idempotency key, which rejects another body', async () => {
    const headers = { 'idempotency-key': 'naming' };
    await put({ name: 'First' }, chat.admin.token, headers);
    await put({ name: 'Second' });
    const again = await put({ name: 'First' }, chat.admin.token, headers);
    expect(again).to.deep.include({ status: 200, body: { name: 'First' } });
    expect((await get(chat.admin.token)).body.name).to.equal('Second');
    expect((await put({ name: 'Third' }, chat.admin.token, headers)).status).to.equal(422);
  });
});
