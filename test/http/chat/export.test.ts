/** The export over HTTP and from the command line: complete, without tokens, streamed, and consistent under writes. */
import { expect } from 'chai';
import { useChat } from '../../support/chat-scenario.js';
import { ask, type Member } from '../../support/http-spec.js';
import { run, start } from '../../support/server-process.js';

describe('export of the chat', function () {
  this.timeout(120_000);
  const chat = useChat();
  let ada: Member;
  let bob: Member;

  const done = async (who: Member, method: string, path: string, body?: unknown) => {
    const { status, body: answer } = await ask(chat.base, method, path, { token: who.token, body });
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const post = async (who: Member, channel: string, content: string) =>
    (await done(who, 'POST', `/channels/${channel}/messages`, { content })).message;
  const exported = (token: string | undefined = chat.admin.token) => ask(chat.base, 'GET', '/admin/export', { token });
  const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

  let channel: string;
  let secret: string;
  let hook: { readonly id: string; readonly token: string };
  let conversation: { readonly id: string; readonly participants: readonly string[] };
  const posted: { [name: string]: { readonly id: string } } = {};

  before(async () => {
    ada = await chat.join('ada');
    bob = await chat.join('bob');
    await done(chat.admin, 'PUT', '/server/settings', { name: 'Exported' });
    channel = (await done(ada, 'POST', '/channels', { name: 'Open', topic: 'All' })).channel.id;
    secret = (await done(ada, 'POST', '/channels', { name: 'Closed', isPrivate: true })).channel.id;
    hook = (await done(chat.admin, 'POST', '/webhooks', { name: 'Bot', channelId: channel })).webhook;
    conversation = (await done(ada, 'POST', '/conversations', { targetUserId: bob.id })).conversation;
    posted.one = await post(ada, channel, 'one');
    posted.reply = (await done(bob, 'POST', `/messages/${posted.one!.id}/thread`, { content: 'a reply' })).reply;
    await done(bob, 'POST', `/messages/${posted.one!.id}/reactions`, { reaction: '+1' });
    posted.gone = await post(ada, channel, 'gone');
    await done(ada, 'DELETE', `/messages/${posted.gone!.id}`);
    posted.closed = await post(ada, secret, 'closed');
    const path = `/conversations/${conversation.id}/messages`;
    posted.direct = (await done(bob, 'POST', path, { content: 'between two' })).message;
    const { webhook } = { webhook: hook };
    const body = { content: 'beep' };
    const beep = await ask(chat.base, 'POST', `/webhooks/${webhook.id}/messages`, {
      token: webhook.token,
      body,
    });
    posted.beep = beep.body.message;
  });

  it('contains all data, for an admin', async () => {
    const before = Date.now();
    const { status, headers, body } = await exported();
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.match(/^application\/json/);
    expect(headers.get('consistency')).to.equal(null);
    expect(body).to.have.keys(
      'exportedAt',
      'users',
      'channels',
      'messages',
      'conversations',
      'serverSettings',
      'webhooks',
      'auditLog',
    );
    expect(body.exportedAt).to.be.within(before, Date.now());
    expect(body.users).to.have.length(3);
    const found = body.users.find(({ id }: { id: string }) => id === ada.id);
    expect(found).to.include({ userName: 'ada', email: 'ada@example.org', isAdmin: false });
    expect(idsOf(body.channels)).to.include.members([channel, secret]);
    expect(body.serverSettings).to.deep.equal({ name: 'Exported' });
    expect(body.conversations).to.have.length(1);
    expect(body.conversations[0]).to.deep.include({
      id: conversation.id,
      participants: conversation.participants,
    });
    const { one, reply, closed, direct, beep } = posted;
    expect(idsOf(body.messages)).to.have.members(idsOf([one!, reply!, closed!, direct!, beep!]));
    const first = body.messages.find(({ id }: { id: string }) => id === one!.id);
    expect(first).to.deep.include({ content: 'one', reactions: { '+1': [bob.id] } });
    expect(first.author).to.deep.equal({ id: ada.id, userName: 'ada' });
    expect(body.messages.find(({ id }: { id: string }) => id === beep!.id).author).to.include({
      isBot: true,
    });
    expect(idsOf(body.webhooks)).to.deep.equal([hook.id]);
    expect(body.auditLog.at(-1)).to.include({ action: 'server.export', actorId: chat.admin.id });
    const { entries } = await done(chat.admin, 'GET', '/admin/audit-log?limit=1');
    expect(entries[0]).to.deep.equal(body.auditLog.at(-1));
  });

  it('contains no tokens and no hashes', async () => {
    const text = JSON.stringify((await exported()).body);
    for (const { token, refreshToken } of [chat.admin, ada, bob])
      for (const each of [token, refreshToken]) expect(text).not.to.include(each);
    expect(text).not.to.include(hook.token);
    expect(text).not.to.match(/"(token|tokenHash|hash|salt|password)"/i);
  });

  it('is for admins only', async () => {
    const refused = await exported(ada.token);
    expect(refused.status).to.equal(403);
    expect(refused.body.error).to.be.a('string');
    expect((await ask(chat.base, 'GET', '/admin/export')).status).to.equal(401);
  });

  it('contains every earlier message once while others are posted, over many pages', async () => {
    const busy = (await done(ada, 'POST', '/channels', { name: 'Busy' })).channel.id;
    const before = [];
    for (let index = 0; index < 450; index += 10)
      before.push(
        ...(await Promise.all(Array.from({ length: 10 }, (_, at) => post(ada, busy, `number ${index + at}`)))),
      );
    const response = await fetch(`${chat.base}/admin/export`, {
      headers: { authorization: `Bearer ${chat.admin.token}` },
    });
    expect(response.headers.get('content-length')).to.equal(null);
    const decoder = new TextDecoder();
    let text = '';
    for await (const piece of response.body!) {
      text += decoder.decode(piece, { stream: true });
      await post(ada, busy, 'meanwhile');
    }
    const { messages } = JSON.parse(text);
    const exportedIds = new Set(idsOf(messages));
    expect(exportedIds.size).to.equal(messages.length);
    expect(before.filter(({ id }) => !exportedIds.has(id))).to.deep.equal([]);
  });

  const command = () => ['chat', 'export', ...chat.storeFlags];

  it('is also written by the command line', async () => {
    const { code, stdout, stderr } = await run(command());
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    const written = JSON.parse(stdout);
    const { body } = await exported();
    expect(written.messages).to.deep.equal(body.messages);
    expect(written.auditLog.at(-1)).to.include({ action: 'server.export', actorId: 'operator' });
    expect({ ...body, exportedAt: 0, auditLog: [] }).to.deep.equal({ ...written, exportedAt: 0, auditLog: [] });
  });

  it('reports on one line that standard output was closed before the end', async () => {
    const exporting = start(command());
    exporting.process.stdout?.destroy();
    const { code, stderr } = await exporting.ended;
    expect(stderr).to.match(/^annals: standard output was closed before the end of the export\n$/);
    expect(code).to.equal(1);
  });
});
