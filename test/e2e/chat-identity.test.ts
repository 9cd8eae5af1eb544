/** Chat users from the operator's view: erased with and without a running server, unreadable on disk, mailed after a crash. */
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { ask, devLogin, EventStream } from '../support/http-spec.js';
import { bytesIn, run, type Server, startServer } from '../support/server-process.js';
import { startPostOffice } from '../support/smtp-server.js';

const OPEN = ['chat', '--auth-is-invite-required', 'false'];
const SECRET = ['--auth-jwt-secret', 'f3b1c0de-5eed-4b1d-8f00-0123456789ab'];

describe('chat users for an operator', function () {
  this.timeout(180_000);
  const directories: { remove(): void }[] = [];
  const fresh = () => {
    const directory = temporaryDirectory();
    directories.push(directory);
    return directory.path;
  };
  after(() => {
    for (const each of directories) each.remove();
  });
  /** An id may begin with a hyphen, hence `--`. */
  const erase = (dataDir: string, whom: string) => run(['erase', 'user', '--yes', '--data-dir', dataDir, '--', whom]);

  it('can be erased beside a running server and without one', async () => {
    const dataDir = fresh();
    let server: Server = await startServer(dataDir, OPEN);
    try {
      const base = server.urls.chat!;
      const admin = await devLogin(base, 'admin@localhost');
      const [bob, carol] = [await devLogin(base, 'bob@example.org'), await devLogin(base, 'carol@example.org')];
      await ask(base, 'PUT', '/users/me', { token: bob.token, body: { userName: 'Robert' } });
      const listening = await EventStream.to(base, { token: bob.token });
      const cursor = listening.ids.at(-1)!;
      expect((await erase(dataDir, 'admin@localhost')).stderr).to.equal(
        'annals: The last admin cannot be removed or lose the role\n',
      );
      const done = await erase(dataDir, bob.id);
      expect(done).to.deep.include({ code: 0, stdout: `${bob.id} is erased\n`, stderr: '' });
      await eventually(() => listening.ended);
      await eventually(async () => (await ask(base, 'GET', '/auth/me', { token: bob.token })).status === 401);
      const { body } = await ask(base, 'GET', '/users', { token: admin.token });
      expect(JSON.stringify(body)).not.to.match(/robert|bob/i);
      // Replayed events do not contain the erased user.
      const back = await EventStream.to(base, { token: admin.token, headers: { 'last-event-id': cursor } });
      await back.received(1, 'RESET');
      expect(JSON.stringify(back.frames)).not.to.match(/robert|bob@/i);
      back.close();
      const again = await devLogin(base, 'bob@example.org');
      expect(again.id).not.to.equal(bob.id);
      await server.stop();

      expect(await erase(dataDir, 'carol@example.org')).to.deep.include({
        code: 0,
        stdout: `${carol.id} is erased\n`,
      });
      const { stdout } = await run(['replay', '--service', 'chat', '--data-dir', dataDir]);
      expect(stdout).to.contain('UserErased').and.contain('Deleted user');
      expect(stdout).not.to.match(/robert|carol@/i);
      server = await startServer(dataDir, OPEN);
      const users = await ask(server.urls.chat!, 'GET', '/users', {
        token: (await devLogin(server.urls.chat!, 'admin@localhost')).token,
      });
      expect(users.body.users.map(({ userName }: { userName: string }) => userName)).to.deep.equal(['Admin', 'bob']);
    } finally {
      await server.stop();
    }
  });

  it('leave no readable email, name, address, token or password on disk', async () => {
    const dataDir = fresh();
    const post = await startPostOffice();
    const mail = ['--email-host', '127.0.0.1', '--email-port', String(post.port)];
    const flags = [...OPEN, '--auth-auth-mode', 'password', ...SECRET, ...mail];
    const env = { INITIAL_USER_PASSWORD: 'platypus-at-dawn' };
    const server = await startServer(dataDir, flags, env);
    const secrets: string[] = ['platypus', 'zanzibar', 'quokka', 'numbat-browser', 'Wollemi'];
    try {
      const base = server.urls.chat!;
      const headers = { 'user-agent': 'numbat-browser/1.0' };
      const body = { email: 'zanzibar@quokka.example', password: 'wombat-in-the-rain' };
      const { body: signedIn } = await ask(base, 'POST', '/auth/register', { body, headers });
      secrets.push(body.password, signedIn.accessToken, signedIn.refreshToken, signedIn.refreshToken.split('.')[2]);
      await ask(base, 'PUT', '/users/me', {
        token: signedIn.accessToken,
        body: { userName: 'Wollemi Pine' },
      });
      await ask(base, 'POST', '/auth/request-password-reset', { body: { email: body.email } });
      const letter = await post.letterTo(body.email);
      secrets.push(letter.link.searchParams.get('token')!);
    } finally {
      await server.stop();
      post.stop();
    }
    const everything = bytesIn(dataDir);
    // The data is uncompressed, so that searching for plaintext is a valid check.
    for (const clear of ['chat.roster-main', 'UserAdded', 'SessionOpened', 'LinkMailed'])
      expect(everything.includes(clear), clear).to.equal(true);
    const readable = everything.toString('latin1').toLowerCase();
    expect(secrets.filter((text) => readable.includes(text.toLowerCase()))).to.deep.equal([]);
    expect(secrets.filter((text) => everything.includes(Buffer.from(text, 'utf16le')))).to.deep.equal([]);
  });

  it('get a requested mail exactly once, also after a crash', async () => {
    const dataDir = fresh();
    const post = await startPostOffice(1000);
    const flags = [
      'chat',
      ...['--auth-auth-mode', 'magic-link', ...SECRET],
      ...['--email-host', '127.0.0.1', '--email-port', String(post.port), '--auth-app-url', 'https://chat.example'],
      ...['--chat-initial-user-email', 'ada@example.org'],
    ];
    let server = await startServer(dataDir, flags);
    try {
      const login = () => ask(server.urls.chat!, 'POST', '/auth/login', { body: { email: 'ada@example.org' } });
      expect((await login()).status).to.equal(200);
      await eventually(() => post.refused() > 0);
      await server.stop('SIGKILL');
      post.refuse(2);
      server = await startServer(dataDir, flags);
      const letter = await post.letterTo('ada@example.org');
      // A restart does not send again once the log records the delivery.
      await server.stop();
      server = await startServer(dataDir, flags);
      expect((await login()).status).to.equal(200);
      const next = await post.letterTo('ada@example.org', 2);
      expect(next.messageId).not.to.equal(letter.messageId);
      expect(post.letters).to.have.length(2);
      const token = next.link.searchParams.get('token')!;
      expect((await ask(server.urls.chat!, 'POST', '/auth/verify', { token })).status).to.equal(200);
    } finally {
      await server.stop();
      post.stop();
    }
  });
});
