/** `annals at` and its API: things as they were, beside a running server and without one. */
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { ask, devLogin, type Member } from '../support/http-spec.js';
import { createRoom } from '../support/room-client.js';
import { eventsIn, run, type Server, startServer } from '../support/server-process.js';

describe('annals at', function () {
  this.timeout(180_000);
  const directory = temporaryDirectory();
  const TOKEN = 'token-of-the-analytics-admin';
  let server: Server;
  let admin: Member;
  let bob: Member;
  let cyd: Member;
  /** A message that was posted, edited and deleted, with the ISO times of its events. */
  const message = { id: '', channel: '', posted: '', edited: '', deleted: '' };

  before(async () => {
    const flags = ['--auth-is-invite-required', 'false', '--analytics-admin-token', TOKEN];
    server = await startServer(directory.path, ['chat', 'analytics', 'logs', 'rooms', ...flags]);
    [admin, bob, cyd] = [
      await login('admin@localhost'),
      await login('bob@example.org'),
      await login('cyd@example.org'),
    ];
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  const login = (email: string) => devLogin(server.urls.chat!, email);
  const as = async ({ token }: Member, method: string, path: string, body?: object) => {
    const done = await ask(server.urls.chat!, method, path, { token, body });
    expect(done.status, `${method} ${path}`).to.equal(200);
    return done.body;
  };
  const annals = (...args: readonly string[]) => run([...args, '--data-dir', directory.path]);
  const shown = async (time: string, thing: string) => {
    const { code, stdout, stderr } = await annals('at', time, thing);
    expect([code, stderr]).to.deep.equal([0, '']);
    return JSON.parse(stdout);
  };
  const refused = async (time: string, thing: string) => {
    const { code, stdout, stderr } = await annals('at', time, thing);
    expect([code, stdout]).to.deep.equal([1, '']);
    return stderr;
  };
  /** ISO times of the events of a stream. */
  const timesIn = async (stream: string): Promise<readonly string[]> =>
    (await eventsIn(server, { stream })).map(({ recordedAt }) => recordedAt);
  const query = (time: string, thing: string) => `?${new URLSearchParams({ time, thing })}`;

  it('shows a message as it was after the post and after the edit', async () => {
    const { channel } = await as(bob, 'POST', '/channels', { name: 'plans' });
    const posted = await as(bob, 'POST', `/channels/${channel.id}/messages`, { content: 'first' });
    const { id } = posted.message;
    await as(bob, 'PUT', `/messages/${id}`, { content: 'second' });
    const [at = '', editedAt = ''] = await timesIn(`chat.message-${id}`);
    Object.assign(message, { id, channel: channel.id, posted: at, edited: editedAt });
    const thing = `message:${id}`;
    const first = await shown(message.posted, thing);
    expect(first).to.include({ thing, time: message.posted, changedAt: message.posted, revision: 0, erased: false });
    expect(first.state).to.include({ id, channelId: channel.id, author: bob.id, content: 'first', edits: 0 });
    expect((await shown(message.edited, thing)).state).to.include({ content: 'second', edits: 1 });
    expect(await refused('2001-01-01', thing)).to.match(/did not exist then; its first event is of 20/);
    const { stdout } = await annals('at', message.edited, thing, '--format', 'table');
    expect(stdout)
      .to.match(/^PROPERTY +VALUE\n/)
      .and.match(/^content +second$/m);
  });

  it('shows admins the same by the API, and nobody else', async () => {
    const path = `/admin/at${query(message.posted, `message:${message.id}`)}`;
    expect((await as(admin, 'GET', path)).state).to.include({ content: 'first' });
    const status = async (token?: string) => (await ask(server.urls.chat!, 'GET', path, { token })).status;
    expect([await status(bob.token), await status()]).to.deep.equal([403, 401]);
  });

  it('shows direct messages to participants and the operator only', async () => {
    const { conversation } = await as(bob, 'POST', '/conversations', { targetUserId: cyd.id });
    const sent = await as(bob, 'POST', `/conversations/${conversation.id}/messages`, { content: 'between us' });
    const thing = `message:${sent.message.id}`;
    const [time = ''] = await timesIn(`chat.message-${sent.message.id}`);
    const { status, body } = await ask(server.urls.chat!, 'GET', `/admin/at${query(time, thing)}`, {
      token: admin.token,
    });
    expect([status, body.error]).to.deep.equal([404, `There is no ${thing} in the log`]);
    expect((await shown(time, thing)).state).to.include({ content: 'between us' });
  });

  it('says that a message is erased at each time before it was deleted', async () => {
    await as(bob, 'DELETE', `/messages/${message.id}`);
    const stream = `chat.message-${message.id}`;
    await eventually(async () => (await timesIn(stream)).length === 1);
    const [deletedAt = ''] = await timesIn(stream);
    const thing = `message:${message.id}`;
    for (const time of [message.posted, message.edited])
      expect(await refused(time, thing)).to.equal(`annals: What the log had of ${thing} at that time is erased\n`);
    const { state } = await shown(deletedAt, thing);
    expect(state).to.include({ channelId: message.channel, author: bob.id, deletedBy: bob.id });
    expect(JSON.stringify(state)).not.to.match(/first|second/);
    const gone = await ask(server.urls.chat!, 'GET', `/admin/at${query(message.posted, thing)}`, {
      token: admin.token,
    });
    expect(gone.status).to.equal(410);
  });

  it('shows an erased user as erased', async () => {
    const time = message.edited;
    expect((await shown(time, `user:${cyd.id}`)).state).to.include({ userName: 'cyd', email: 'cyd@example.org' });
    const erasing = ['erase', 'user', '--yes', '--data-dir', directory.path, '--', cyd.id];
    expect((await run(erasing)).code).to.equal(0);
    const { erased, state } = await shown(time, `user:${cyd.id}`);
    expect([erased, state.userName, state.email]).to.deep.equal([true, '(erased)', '(erased)']);
  });

  it('shows sites and the alert policy, also to the admins of their services', async () => {
    const { analytics = '', logs = '' } = server.urls;
    const options = { token: TOKEN, body: { id: 'blog', name: 'Blog' } };
    expect((await ask(analytics, 'POST', '/api/sites', options)).status).to.equal(201);
    expect((await ask(logs, 'PUT', '/api/alerts/config', { body: { errorThreshold: 7 } })).status).to.equal(200);
    const past = async (base: string, path: string, token?: string) => ask(base, 'GET', path, { token });
    const [registered = ''] = await timesIn('analytics.sites-main');
    const [changed = ''] = await timesIn('logs.policy-main');
    expect((await shown(registered, 'site:blog')).state).to.include({ name: 'Blog' });
    expect((await shown(changed, 'policy')).state).to.include({ errorThreshold: 7 });
    const site = await past(analytics, `/api/at${query(registered, 'site:blog')}`, TOKEN);
    expect([site.status, site.body.state?.name]).to.deep.equal([200, 'Blog']);
    expect((await past(analytics, `/api/at${query(registered, 'site:blog')}`)).status).to.equal(401);
    const policy = await past(logs, `/api/at${query(changed, 'policy')}`);
    expect([policy.status, policy.body.state?.errorThreshold]).to.deep.equal([200, 7]);
  });

  it('refuses a wrong thing or time and says why', async () => {
    const now = new Date().toISOString();
    expect(await refused(now, 'file:x')).to.match(
      /"file" is not a kind of thing; it must be message:<id>, channel:<id>, /,
    );
    expect(await refused(now, 'channel:none')).to.equal('annals: There is no channel:none in the log\n');
    expect(await refused('2999-01-01T00:00Z', 'policy')).to.equal('annals: The time is in the future\n');
    const usage = await annals('at', 'yesterday', 'policy');
    expect([usage.code, usage.stderr]).to.deep.equal([2, usage.stderr.match(/^annals: .*It must be a time.*\n$/)?.[0]]);
    const stateUrl = (time: string, thing: string) =>
      ask(server.urls.chat!, 'GET', `/admin/at${query(time, thing)}`, { token: admin.token });
    for (const [time, thing] of [
      [now, 'site:blog'],
      ['2999-01-01T00:00:00Z', 'user:x'],
      ['yesterday', 'user:x'],
    ] as const)
      expect((await stateUrl(time, thing)).status, `${time} ${thing}`).to.equal(400);
  });

  it('works without a server', async () => {
    const room = await createRoom(server.urls.rooms!, 'Ada');
    const time = (await timesIn(`rooms.room-${room.roomId}`)).at(-1) ?? '';
    await server.stop();
    const { state } = await shown(time, `room:${room.roomId}`);
    expect(state.status).to.equal('open');
    expect(state.participants[0].name).to.equal('Ada');
  });
});
