/** The running program, as seen by other processes that use its directory, servers or ports; one start for all tests. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { lockDirectory } from '@annals/engines/internal/supervisor/directory-lock.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { Examined } from '../support/openapi-check.js';
import { call, createRoom, joinRoom, settledState } from '../support/room-client.js';
import { ANNALS, type Ended, run, type Server, startServer } from '../support/server-process.js';

describe('the running program', function () {
  this.timeout(120_000);
  const [directory, other] = [temporaryDirectory(), temporaryDirectory()];
  let first: Server;
  /** Starts another one on the first's servers, with a directory of its own and credentials. */
  let guest: Server;
  let urls: { readonly ANNALS_EVENT_STORE_URL: string; readonly ANNALS_MONGO_URL: string };
  let secret: string;
  /** A start whose MongoDB does not answer; it waits while the other tests run. */
  let away: Promise<Ended>;
  const running: Server[] = [];

  before(async () => {
    const nowhere = ['--mongo-url', 'mongodb://127.0.0.1:1/', '--event-store-url', 'esdb://127.0.0.1:1?tls=false'];
    away = run(['serve', '--data-dir', join(other.path, 'away'), ...nowhere]);
    first = await startServer(directory.path);
    running.push(first);
    const { eventStoreUrl, mongoUrl } = JSON.parse(readFileSync(`${directory.path}/runtime.json`, 'utf8'));
    urls = { ANNALS_EVENT_STORE_URL: eventStoreUrl, ANNALS_MONGO_URL: mongoUrl };
    secret = readFileSync(`${directory.path}/secret`, 'utf8').trim();
    guest = await startServer(other.path, [], {
      ...urls,
      ANNALS_SECRET: secret,
      ANNALS_LOGS_API_TOKEN: 'a-token-of-the-api',
      ANNALS_LOGS_PRODUCERS: '[{"id":"web","token":"a-token-of-web"}]',
      ANNALS_OPERATIONS_TOKEN: 'a-token-of-operations',
      ANNALS_AUTH_AUTH_MODE: 'password',
      ANNALS_AUTH_JWT_SECRET: 'a-secret-of-more-than-32-characters',
      ANNALS_ANALYTICS_ALLOWED_EMAILS: 'ada@example.org',
    });
    running.push(guest);
  });
  after(async () => {
    await away;
    await guest?.stop();
    const code = await first?.stop();
    for (const server of running) await server.stop('SIGKILL');
    for (const { remove } of [directory, other]) remove();
    expect(code, 'of the first, after all that').to.equal(0);
  });

  it('answers malformed requests to the operations port as its OpenAPI document says', async () => {
    const operations = await Examined.at(first.urls.operations);
    await operations.storm((path) => path, { host: 'evil.example' });
    for (const [path, method] of operations.operations) {
      await operations.ask(method, path);
      await operations.ask(method, path, { headers: { forwarded: 'for=203.0.113.9' } });
    }
    await operations.ask('GET', '/', { headers: { 'if-none-match': '*' } });
    const [asset] = /assets\/page-\w+\.js/.exec(await (await fetch(`${first.urls.operations}`)).text()) ?? [];
    await operations.ask('GET', '/assets/{part}', { target: `/${asset}` });
    const page = await (await fetch(`${first.urls.operations}/events`)).json();
    const [{ position }] = (page as { events: [{ position: string }] }).events;
    for (const path of ['/events/{position}', '/events/{position}/related'])
      await operations.ask('GET', path, { target: path.replace('{position}', position) });
    const isIdle = async () => !(await (await fetch(`${first.urls.operations}/reindex`)).text()).includes('running');
    for (const kind of ['rebuild', 'check']) {
      const path = `/projections/{name}/${kind}`;
      // One of them at a time.
      await Promise.all(
        ['rooms.state', 'chat.messages', 'chat.files'].map((name) =>
          operations.ask('POST', path, { target: path.replace('{name}', name) }),
        ),
      );
      await eventually(isIdle);
    }
    // Tiles exist once a checkpoint is signed, after a minute (transparency-log.test.ts).
    expect(operations.unseen().filter((answer) => !/ \/audit\/.* 200$/.test(answer))).to.deep.equal([]);
  });

  it('shares its engines with a second node, which shows the same data', async () => {
    const second = await startServer(directory.path, ['rooms']);
    running.push(second);
    const ada = await createRoom(first.urls.rooms ?? '', 'Ada');
    const bob = await joinRoom(second.urls.rooms ?? '', await ada.invite(), 'Bob');
    const posted = await call<{ message: { id: string } }>(
      first.urls.rooms ?? '',
      'POST',
      `/rooms/${ada.roomId}/messages`,
      {
        token: ada.sessionToken,
        body: await ada.seal('hello'),
      },
    );
    const seen = { 'if-position': posted.headers.get('position') ?? '' };
    const { body } = await settledState(second, bob, seen);
    expect(body.messages.map(({ id }) => id)).to.deep.equal([posted.body.message.id]);
    expect(await second.stop()).to.equal(0);
    expect([...first.lines, ...second.lines].filter((line) => !line.startsWith('{'))).to.deep.equal([]);
  });

  it('names the reason in one line when it cannot start', async () => {
    const port = new URL(first.urls.rooms ?? '').port;
    const serve = (...args: string[]) => run(['serve', ...args]);
    const [engines, taken, wrong] = await Promise.all([
      run(['engines', '--data-dir', directory.path]),
      serve('--data-dir', directory.path, '--logs-port', port, '--operations-port', '0'),
      serve('--rooms-port', 'many'),
    ]);
    expect(engines).to.include({ code: 1 });
    expect(engines.stderr).to.match(/^annals: .* is in use by process \d+\n$/);
    expect(taken).to.include({ code: 1 });
    expect(taken.stderr).to.match(
      /^annals: port \d+ on 127\.0\.0\.1 is already in use; stop the program that uses it, or choose another port\n$/,
    );
    expect(wrong).to.include({ code: 2 });
    expect(wrong.stderr).to.match(/^annals: rooms\.port .*\n$/);
  });

  it('names the engine in one line when its directory is in use', async () => {
    const lock = lockDirectory(join(other.path, 'eventstore'));
    try {
      const { code, stderr } = await run(['engines', '--data-dir', other.path, '--log-format', 'json']);
      expect(code).to.equal(1);
      expect(stderr).to.match(/^annals: the eventstore engine did not start: .* is in use by process \d+\n$/);
    } finally {
      lock.release();
    }
  });

  it('reports in one line that the limit of open files is too low', () => {
    // Too few to start both engines, but enough for Node itself to report it: Node 22 keeps fewer files open.
    const files = Number.parseInt(process.versions.node, 10) < 22 ? 40 : 30;
    const command = `ulimit -n ${files}; exec "$0" "$@"`;
    const args = [ANNALS, 'engines', '--data-dir', join(other.path, 'few')];
    const { status, stderr } = spawnSync('sh', ['-c', command, process.execPath, ...args], {
      encoding: 'utf8',
      timeout: 30_000,
    });
    expect(status).to.equal(1);
    expect(stderr).to.match(/^annals: .*EMFILE.*: raise the limit of open files \(ulimit -n\)\n$/);
  });

  it('serves the operations port despite idle connections from strangers', async () => {
    const { port } = new URL(first.urls.operations ?? '');
    const idle = Array.from({ length: 120 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}));
    await eventually(() => idle.filter(({ closed }) => closed).length >= 20);
    expect((await fetch(`${first.urls.operations}/health/live`)).status).to.equal(200);
    expect(idle.filter(({ closed }) => closed)).to.have.length.below(30);
    for (const each of idle) each.destroy();
  });

  it('prints addresses, engines, data directory and sign-in at start', async () => {
    const entryOf = (server: Server, of: object) =>
      server.lines
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line))
        .find((line) => Object.entries(of).every(([name, value]) => line[name] === value));
    for (const service of ['logs', 'rooms', 'analytics', 'operations']) {
      const { url, signIn } = entryOf(first, { service });
      expect(url, service).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(signIn, service).to.be.a('string').and.not.equal('');
    }
    expect(entryOf(first, { service: 'logs' }).signIn).to.match(/^anyone /);
    expect(entryOf(first, { service: 'analytics' }).signIn).to.match(/dashboard.* generated admin token.*: \S{43}$/);
    expect(entryOf(first, { msg: 'ready' })).to.include({ engines: 'embedded', dataDir: directory.path });

    expect(entryOf(guest, { service: 'logs' }).signIn).to.match(/logs\.apiToken .*logs\.producers/);
    expect(entryOf(guest, { service: 'operations' }).signIn).to.include('operations.token');
    expect(guest.lines.join('')).to.match(/email\.host is not: sign-in links cannot be sent/);
    const ready = entryOf(guest, { msg: 'ready' });
    expect(new URL(ready.eventStore).host).to.equal(new URL(urls.ANNALS_EVENT_STORE_URL).host);
    expect(new URL(ready.mongo).host).to.equal(new URL(urls.ANNALS_MONGO_URL).host);
    const printed = guest.lines.join('');
    for (const secret of [
      'a-token',
      new URL(urls.ANNALS_MONGO_URL).password,
      new URL(urls.ANNALS_EVENT_STORE_URL).password,
    ])
      if (secret) expect(printed).not.to.include(secret);
  });

  it('uses configured servers and starts none', async () => {
    expect(guest.enginePids).to.deep.equal([]);
    expect((await createRoom(guest.urls.rooms ?? '', 'Ada')).roomId).to.be.a('string');
    const alone = await startServer(other.path, ['rooms'], urls).catch((error) => error);
    expect(alone).to.have.property('message').that.contains('secret is not set');
    const shown = guest.lines.join();
    for (const hidden of [secret, new URL(urls.ANNALS_MONGO_URL).password]) expect(shown).not.to.contain(hidden);
  });

  it('lists builds of a running server', async () => {
    const list = await run(['reindex', '--list', '--data-dir', directory.path]);
    expect(list.stdout).to.match(/^rooms\.state +1 +rooms_state_v1_\w+/m);
  });

  it('reports in one line that a stream to replay does not exist', async () => {
    const unknown = await run(['replay', '--stream', 'rooms.room-nowhere', '--data-dir', directory.path]);
    expect(unknown).to.include({
      code: 1,
      stderr: 'annals: there is no stream rooms.room-nowhere\n',
    });
  });

  it('strips control characters from replayed texts', async () => {
    const name = 'Eve \u009b2J\u007f\u202e';
    const { roomId } = await createRoom(first.urls.rooms ?? '', name);
    const stream = `rooms.room-${roomId}`;
    for (const format of ['table', 'ndjson']) {
      const { stdout } = await run(['replay', '--stream', stream, '--format', format, '--data-dir', directory.path]);
      expect(stdout, format).to.include('Eve \\u009b2J\\u007f\\u202e');
      expect(stdout.replaceAll('\n', ''), format).not.to.match(/[\p{Cc}\u202e]/u);
      if (format === 'ndjson')
        expect(
          stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line)),
        ).to.have.length(2);
    }
  });

  it('reports in one line that MongoDB is unreachable', async () => {
    const { code, stderr } = await away;
    expect(code).to.equal(1);
    expect(stderr).to.match(/^annals: MongoDB does not answer: .*\n$/);
  });
});
