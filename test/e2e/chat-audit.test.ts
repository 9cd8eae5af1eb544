/** The audit log stays complete when the events it derives from are deleted. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { ask, devLogin, type Member } from '../support/http-spec.js';
import { eventsIn, run, type Server, startServer } from '../support/server-process.js';

describe('chat audit log across scavenges', function () {
  this.timeout(180_000);
  const directory = temporaryDirectory();
  let server: Server;
  before(async () => {
    server = await startServer(directory.path, ['chat', '--auth-is-invite-required', 'false']);
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });
  const annals = (...args: readonly string[]) => run([...args, '--data-dir', directory.path]);

  it('survives a scavenge and a rebuild, for deleted messages, deleted channels and erased users', async () => {
    const base = server.urls.chat!;
    const admin = await devLogin(base, 'admin@localhost');
    const bob = await devLogin(base, 'bob@example.org');
    const as = async ({ token }: Member, method: string, path: string, body?: object) => {
      const done = await ask(base, method, path, { token, body });
      expect(done.status, `${method} ${path}`).to.equal(200);
      return done.body;
    };
    const inChannel = async (name: string) => {
      const { channel } = await as(bob, 'POST', '/channels', { name });
      const { message } = await as(bob, 'POST', `/channels/${channel.id}/messages`, { content: 'hello' });
      return { channel: channel.id, message: message.id };
    };
    const [kept, ended] = [await inChannel('kept'), await inChannel('ended')];
    const { reply } = await as(bob, 'POST', `/messages/${kept.message}/thread`, { content: 'a reply' });
    await as(admin, 'DELETE', `/messages/${kept.message}/thread/${reply.id}`);
    await as(admin, 'DELETE', `/messages/${kept.message}`);
    await as(admin, 'DELETE', `/messages/${ended.message}`);
    await as(admin, 'DELETE', `/channels/${ended.channel}`);
    for (const password of ['a first password', 'a second password'])
      await as(admin, 'POST', `/users/${bob.id}/reset-password`, { password });
    const count = async (type: string) => (await eventsIn(server, { type })).length;
    await eventually(async () => (await count('ActKept')) === 5);
    // An id may begin with a hyphen, hence `--`.
    const erasing = ['erase', 'user', '--yes', '--data-dir', directory.path, '--', bob.id];
    expect(await run(erasing)).to.include({ code: 0 });
    const entries = async () => (await as(admin, 'GET', '/admin/audit-log?limit=100')).entries;
    const before = await entries();
    expect(before.map(({ action }: { action: string }) => action)).to.deep.equal([
      'user.erase',
      'user.remove',
      'user.set-password',
      'user.set-password',
      'channel.delete',
      'message.delete',
      'message.delete',
      'reply.delete',
      'channel.create',
      'channel.create',
      'channel.create',
    ]);

    // The events behind these entries are gone once all stream deletions are done.
    await eventually(async () => {
      await annals('scavenge');
      return (await count('ReplyPosted')) + (await count('PasswordSet')) === 0;
    });
    const checked = await annals('reindex', '--check', 'chat.audit');
    expect(checked, checked.stdout + checked.stderr).to.include({ code: 0 });
    expect((await annals('reindex', 'chat.audit')).code).to.equal(0);
    expect(await entries()).to.deep.equal(before);
  });

  it('has receipts of erasures, which are checked with the key alone', async () => {
    const cleo = await devLogin(server.urls.chat!, 'cleo@example.org');
    // Without a server the command signs the checkpoint itself.
    await server.stop();
    const receipts = join(directory.path, 'receipts');
    const erased = await annals('erase', 'user', '--yes', '--receipt', receipts, 'cleo@example.org');
    expect(erased, erased.stderr).to.include({ code: 0 });
    const path = join(receipts, readdirSync(receipts)[0]!);
    expect(erased.stdout).to.equal(`${cleo.id} is erased\nreceipt: ${path}\n`);
    const args = ['erase', 'user', '--yes', '--data-dir', directory.path, '--receipt', receipts, '--', cleo.id];
    expect((await run(args)).stdout).to.equal(erased.stdout);
    expect(readdirSync(receipts)).to.have.length(1);
    const noPlace = await annals('erase', 'user', '--yes', '--receipt', path, 'ada@example.org');
    expect(noPlace).to.include({ code: 2 });
    expect(noPlace.stderr).to.include('--receipt must be a directory to write to');
    const key = (await annals('audit', 'key')).stdout.trim();
    const verified = await run(['audit', 'verify', '--receipt', path, '--key', key]);
    expect(verified.stdout).to.match(
      new RegExp(`^user ${cleo.id} was erased at .*\nchat\\.UserErased\\.v1 \\{.*${cleo.id}`),
    );
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace(`subject user ${cleo.id}`, 'subject user somebody'));
    expect((await run(['audit', 'verify', '--receipt', path, '--key', key])).code).to.equal(1);
  });
});
