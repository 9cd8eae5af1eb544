/** The audit log over HTTP: acts of admins, acts on others' content, and sign-in attempts at the limit. */
import { expect } from 'chai';
import { useChat } from '../../support/chat-scenario.js';
import { useCheapScrypt } from '../../support/cheap-scrypt.js';
import { type Answered, ask, type Member } from '../../support/http-spec.js';

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly actorId: string;
  readonly targetType: string;
  readonly targetId: string;
  readonly createdAt: number;
  readonly metadata: { readonly [name: string]: unknown };
}

describe('audit log of the chat', function () {
  this.timeout(60_000);
  const chat = useChat(2);
  let bob: Member;
  before(async () => {
    bob = await chat.join('bob');
  });

  const as = async (who: Member, method: string, path: string, body?: unknown) => {
    const done = await ask(chat.base, method, path, { token: who.token, body });
    if (done.status !== 200) throw new Error(`${method} ${path}: ${done.status} ${JSON.stringify(done.body)}`);
    return done.body;
  };
  const admin = (method: string, path: string, body?: unknown) => as(chat.admin, method, path, body);
  const query = (text = '', token: string | undefined = chat.admin.token) =>
    ask(chat.base, 'GET', `/admin/audit-log${text}`, { token });
  const entries = async (text = ''): Promise<readonly Entry[]> => {
    const done = await query(text);
    isSettled(done);
    return done.body.entries;
  };
  const isSettled = ({ headers }: Answered) => expect(headers.get('consistency')).to.equal(null);
  const last = async () => (await entries('?limit=1'))[0]!;
  const actions = async (count: number) => (await entries(`?limit=${count}`)).map(({ action }) => action);

  it('records each act immediately with its action, actor, target and time', async () => {
    const before = Date.now();
    await admin('PUT', `/users/${bob.id}/role`, { role: 'admin' });
    const entry = await last();
    expect(entry).to.have.keys('id', 'action', 'actorId', 'targetType', 'targetId', 'createdAt', 'metadata');
    const expected = { actorId: chat.admin.id, targetType: 'user', targetId: bob.id };
    expect(entry).to.include({ action: 'user.change-role', ...expected });
    expect(entry.metadata).to.deep.equal({ role: 'admin' });
    expect(entry.createdAt).to.be.within(before, Date.now());
    await admin('PUT', `/users/${bob.id}/role`, { role: 'user' });
    expect((await last()).metadata).to.deep.equal({ role: 'user' });
  });

  it('records acts on users, roles, webhooks, settings and channels, newest first', async () => {
    const added = await admin('POST', '/users/add', { email: 'added@example.org', role: 'user' });
    await admin('DELETE', `/users/${added.userId}`);
    await admin('PUT', '/server/settings', { name: 'Audited' });
    const { channel } = await as(bob, 'POST', '/channels', { name: 'Audited' });
    await as(bob, 'PUT', `/channels/${channel.id}`, { isPrivate: true, members: [chat.admin.id] });
    const { webhook } = await admin('POST', '/webhooks', { name: 'Hook', channelId: channel.id });
    await admin('DELETE', `/webhooks/${webhook.id}`);
    const changes = await entries('?limit=8');
    await admin('DELETE', `/channels/${channel.id}`);
    const leaver = await chat.join('leaver');
    await as(leaver, 'POST', '/users/exit');
    expect(await actions(9)).to.deep.equal([
      'user.exit',
      'channel.delete',
      'webhook.delete',
      'webhook.create',
      'channel.update',
      'channel.create',
      'settings.update',
      'user.remove',
      'user.add',
    ]);
    const [removed, hook, updated, created, settings] = changes;
    expect(removed).to.include({ targetType: 'webhook', targetId: webhook.id });
    expect(hook!.metadata).to.deep.equal({ channelId: channel.id, name: 'Hook' });
    expect(updated).to.include({ actorId: bob.id, targetId: channel.id });
    expect(updated!.metadata).to.deep.equal({ isPrivate: true, joined: [chat.admin.id], left: [] });
    expect(created!.metadata).to.deep.equal({ isPrivate: false, members: [bob.id], name: 'Audited' });
    expect(settings).to.include({ targetType: 'settings', actorId: chat.admin.id });
    expect(settings!.metadata).to.deep.equal({ name: 'Audited' });
    // The channel's name was encrypted with its key, which was destroyed.
    const entryAfterDeletion = (await entries()).find(({ id }) => id === created!.id);
    expect(entryAfterDeletion!.metadata).to.deep.equal({ isPrivate: false, members: [bob.id] });
    expect(JSON.stringify(await entries())).not.to.include('added@example.org');
  });

  it("records deletions of others' messages and replies, but not of one's own", async () => {
    const { channel } = await as(bob, 'POST', '/channels', { name: 'Removals' });
    const post = async (content: string) =>
      (await as(bob, 'POST', `/channels/${channel.id}/messages`, { content })).message.id as string;
    const [own, others, parent] = [await post('own'), await post('others'), await post('parent')];
    const { reply } = await as(bob, 'POST', `/messages/${parent}/thread`, { content: 'reply' });
    await as(bob, 'DELETE', `/messages/${own}`);
    await admin('DELETE', `/messages/${others}`);
    await admin('DELETE', `/messages/${parent}/thread/${reply.id}`);
    const [second, first, changes] = await entries('?limit=3');
    expect(changes!.action).to.equal('channel.create');
    expect(first).to.include({ action: 'message.delete', actorId: chat.admin.id, targetId: others });
    expect(first!.metadata).to.deep.equal({ channelId: channel.id, author: bob.id });
    expect(second).to.include({ action: 'reply.delete', targetId: reply.id });
    expect(second!.metadata).to.deep.equal({ channelId: channel.id, threadId: parent, author: bob.id });
  });

  it('pages with `before`, filters by action, and is the same on another node', async () => {
    const all = await entries();
    const paged: Entry[] = [];
    for (let page = await entries('?limit=4'); page.length > 0; ) {
      paged.push(...page);
      page = await entries(`?limit=4&before=${page.at(-1)!.id}`);
    }
    expect(paged).to.deep.equal(all);
    const roles = all.filter(({ action }) => action === 'user.change-role');
    expect(await entries('?action=user.change-role')).to.deep.equal(roles);
    expect(await entries(`?action=user.change-role&before=${roles[0]!.id}`)).to.deep.equal(roles.slice(1));
    expect(await entries('?action=nothing')).to.deep.equal([]);
    const { headers } = await query();
    const position = { 'if-position': headers.get('position') ?? '' };
    const options = { token: chat.admin.token, headers: position };
    expect((await ask(chat.bases[1]!, 'GET', '/admin/audit-log', options)).body.entries).to.deep.equal(all);
  });

  it('streams a long log without repeating entries, up to the limit', async () => {
    for (let n = 0; n < 50; n++) await admin('PUT', `/users/${bob.id}/role`, { role: n % 2 ? 'user' : 'admin' });
    const all = await entries('?limit=1000');
    expect(all.length).to.be.greaterThan(50);
    const paged: Entry[] = [];
    for (let before = ''; paged.length < all.length; before = `&before=${paged.at(-1)!.id}`)
      paged.push(...(await entries(`?limit=1${before}`)));
    expect(all).to.deep.equal(paged);
    for (const limit of [19, 20, 21, 40, 47])
      expect(await entries(`?limit=${limit}`)).to.deep.equal(all.slice(0, limit));
    const roles = all.filter(({ action }) => action === 'user.change-role');
    const older = `?action=user.change-role&limit=45&before=${roles[0]!.id}`;
    expect(await entries(older)).to.deep.equal(roles.slice(1, 46));
  });

  it('rejects invalid pages, and callers who are not admins', async () => {
    for (const wrong of ['?limit=0', '?limit=x', '?limit=-1', '?limit=1.5', '?before=unknown'])
      expect((await query(wrong)).status, wrong).to.equal(400);
    expect((await query('?limit=100000')).status).to.equal(200);
    expect((await query('', bob.token)).status).to.equal(403);
    expect((await ask(chat.base, 'GET', '/admin/audit-log')).status).to.equal(401);
  });
});

describe('audit log of a chat with passwords', function () {
  this.timeout(60_000);
  useCheapScrypt();
  const chat = useChat(1, {
    '--auth-auth-mode': 'password',
    '--auth-jwt-secret': 'B7mK2v9sQx4tYw8zR3nP6cJ5fHdGaLeU',
    '--chat-initial-user-password': 'a good password',
  });

  it('records reaching the guess limit once, and passwords set by admins', async () => {
    const login = (email: string, password: string) =>
      ask(chat.base, 'POST', '/auth/password-login', { body: { email, password } });
    const added = await ask(chat.base, 'POST', '/users/add', {
      token: chat.admin.token,
      body: { email: 'kim@example.org', role: 'user', password: 'her first password' },
    });
    const path = `/users/${added.body.userId}/reset-password`;
    const body = { password: 'another password' };
    expect((await ask(chat.base, 'POST', path, { token: chat.admin.token, body })).status).to.equal(200);
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess++) statuses.push((await login('kim@example.org', 'wrong guess')).status);
    expect(statuses).to.deep.equal([...Array<number>(10).fill(401), 429, 429]);
    const { entries } = (await ask(chat.base, 'GET', '/admin/audit-log', { token: chat.admin.token })).body;
    const acts = (entries as readonly Entry[]).map(({ action, targetId }) => [action, targetId]);
    expect(acts.slice(0, 2)).to.deep.equal([
      ['sign-in.limit', added.body.userId],
      ['user.set-password', added.body.userId],
    ]);
    expect(acts.filter(([action]) => action === 'sign-in.limit')).to.have.length(1);
    expect(entries[0].metadata).to.deep.equal({ limit: 'email-and-network' });
    expect(acts.slice(2, 4)).to.deep.equal([
      ['user.add', added.body.userId],
      ['user.set-password', added.body.userId],
    ]);
    expect(JSON.stringify(entries)).not.to.match(/kim@|127\.0\.0\.1|her first|wrong guess/);
  });
});
