/** The program as a process: starts, is killed, comes back, shares its directory, stops. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { owned } from '../support/children.js';
import { eventually } from '../support/condition.js';
import { temporaryDirectory } from '../support/engines.js';
import { call, createRoom, joinRoom } from '../support/room-client.js';
import { ANNALS, type Server, startServer } from '../support/server.js';

const annals = (...args: string[]) =>
  promisify(execFile)(process.execPath, [ANNALS, ...args]).catch(
    (failure) => failure as { code: number; stderr: string },
  );

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

interface Messages {
  readonly messages: readonly { readonly id: string }[];
}

/** The state of a room, asked for again as long as the node says that it is still catching up. */
async function settledState(
  { urls }: Server,
  { roomId, sessionToken: token }: { readonly roomId: string; readonly sessionToken: string },
  headers: { readonly [name: string]: string } = {},
) {
  for (;;) {
    const answer = await call<Messages>(urls.rooms ?? '', 'GET', `/rooms/${roomId}/state`, {
      token,
      headers,
    });
    if (answer.headers.get('consistency') !== 'pending') return answer;
  }
}

describe('the program', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  const running: Server[] = [];
  const start = async (...flags: string[]) => {
    const server = await startServer(directory.path, flags);
    running.push(server);
    return server;
  };
  // Also what a test that failed has left: the next one would meet its engines.
  afterEach(() => Promise.all(running.splice(0).map((server) => server.stop('SIGKILL'))));
  after(() => directory.remove());

  it('has after a kill what it acknowledged, and not what was burned', async () => {
    const first = await start();
    const kept = await createRoom(first.urls.rooms ?? '', 'Ada');
    const burned = await createRoom(first.urls.rooms ?? '', 'Bob');
    const { id } = await kept.post('Still here?');
    const burn = await call(first.urls.rooms ?? '', 'POST', `/rooms/${burned.roomId}/burn`, {
      token: burned.sessionToken,
    });
    expect(burn.status).to.equal(200);
    await first.stop('SIGKILL');

    const second = await start();
    const read = (room: typeof kept) => settledState(second, room);
    expect((await read(kept)).body.messages.map((message) => message.id)).to.deep.equal([id]);
    expect((await read(burned)).status).to.equal(404);
    expect(await second.stop()).to.equal(0);
  });

  it('lets a second node share the engines, and shows on it what the first was told', async () => {
    const first = await start();
    const second = await start();
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
    expect(await first.stop()).to.equal(0);
    expect([...first.lines, ...second.lines].filter((line) => !line.startsWith('{'))).to.deep.equal([]);
  });

  it('says in one line why it does not start', async () => {
    const first = await start();
    const port = new URL(first.urls.rooms ?? '').port;
    const serve = (...args: string[]) => annals('serve', ...args);
    const [engines, taken, wrong, away] = await Promise.all([
      annals('engines', '--data-dir', directory.path),
      serve('--data-dir', directory.path, '--logs-port', port, '--operations-port', '0'),
      serve('--rooms-port', 'many'),
      serve('--mongo-url', 'mongodb://127.0.0.1:1/', '--event-store-url', 'esdb://127.0.0.1:1?tls=false'),
    ]);
    expect(engines).to.include({ code: 1 });
    expect(engines.stderr).to.match(/^annals: .* is in use by process \d+\n$/);
    expect(taken).to.include({ code: 1 });
    expect(taken.stderr).to.match(/^annals: port \d+ on 127\.0\.0\.1 is taken; choose another one\n$/);
    expect(wrong).to.include({ code: 2 });
    expect(wrong.stderr).to.match(/^annals: rooms\.port .*\n$/);
    expect(away).to.include({ code: 1 });
    expect(away.stderr).to.match(/^annals: MongoDB does not answer: .*\n$/);
    await first.stop();
  });

  it('goes on, and stops, where nobody reads its log any more', async () => {
    const first = await start();
    const out = first.child.stdout!;
    out.pause();
    // Each is a line; the system takes no more than some hundred kilobytes of them.
    const headers = { 'x-request-id': 'x'.repeat(128) };
    const ask = async () => (await fetch(`${first.urls.rooms}/nothing`, { headers })).text();
    for (let round = 0; round < 30; round++) await Promise.all(Array.from({ length: 50 }, ask));
    expect((await fetch(`${first.urls.rooms}/health`)).status).to.equal(200);
    expect(await first.stop()).to.equal(0);
    out.resume();
  });

  it('lets nobody keep others out by connections to the operations port that ask nothing', async () => {
    const first = await start();
    const { port } = new URL(first.urls.operations ?? '');
    const idle = Array.from({ length: 120 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}));
    await eventually(() => idle.filter(({ closed }) => closed).length >= 20);
    expect((await fetch(`${first.urls.operations}/health/live`)).status).to.equal(200);
    expect(idle.filter(({ closed }) => closed)).to.have.length.below(30);
    for (const each of idle) each.destroy();
  });

  it('says at its start where it is reached, on which engines and data, and how to sign in', async () => {
    const first = await start();
    const told = (server: Server, of: object) =>
      server.lines
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line))
        .find((line) => Object.entries(of).every(([name, value]) => line[name] === value));
    for (const service of ['logs', 'rooms', 'operations']) {
      const { url, signIn } = told(first, { service });
      expect(url, service).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(signIn, service).to.be.a('string').and.not.equal('');
    }
    expect(told(first, { service: 'logs' }).signIn).to.match(/^everybody /);
    expect(told(first, { msg: 'ready' })).to.include({ engines: 'embedded', dataDir: directory.path });

    const { eventStoreUrl, mongoUrl } = JSON.parse(readFileSync(`${directory.path}/runtime.json`, 'utf8'));
    const second = await startServer(directory.path, [], {
      ANNALS_EVENT_STORE_URL: eventStoreUrl,
      ANNALS_MONGO_URL: mongoUrl,
      ANNALS_SECRET: readFileSync(`${directory.path}/secret`, 'utf8').trim(),
      ANNALS_LOGS_API_TOKEN: 'a-token-of-the-api',
      ANNALS_LOGS_PRODUCERS: '[{"id":"web","token":"a-token-of-web"}]',
      ANNALS_OPERATIONS_TOKEN: 'a-token-of-operations',
    });
    running.push(second);
    expect(told(second, { service: 'logs' }).signIn).to.match(/logs\.apiToken .*logs\.producers/);
    expect(told(second, { service: 'operations' }).signIn).to.include('operations.token');
    const ready = told(second, { msg: 'ready' });
    expect(new URL(ready.eventStore).host).to.equal(new URL(eventStoreUrl).host);
    expect(new URL(ready.mongo).host).to.equal(new URL(mongoUrl).host);
    const printed = second.lines.join('');
    for (const secret of ['a-token', new URL(mongoUrl).password, new URL(eventStoreUrl).password])
      if (secret) expect(printed).not.to.include(secret);
    await second.stop();
    await first.stop();
  });

  it('has nothing to replay of a stream that is not there, in one line', async () => {
    const server = await start();
    const unknown = await annals('replay', '--stream', 'rooms.room-nowhere', '--data-dir', directory.path);
    expect(unknown).to.include({
      code: 1,
      stderr: 'annals: there is no stream rooms.room-nowhere\n',
    });
    await server.stop();
  });

  it('sends no controls of others to whoever replays what they wrote', async () => {
    const server = await start();
    const name = 'Eve \u009b2J\u007f\u202e';
    const { roomId } = await createRoom(server.urls.rooms ?? '', name);
    const stream = `rooms.room-${roomId}`;
    for (const format of ['table', 'ndjson']) {
      const told = await annals(
        'replay',
        '--stream',
        stream,
        '--format',
        format,
        '--data-dir',
        directory.path,
      );
      const { stdout } = told as { stdout: string };
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
    await server.stop();
  });

  for (const [command, moment] of [
    ['serve', 'engine started'],
    ['serve', 'rooms on'],
    ['serve', 'ready'],
    ['engines', 'engine started'],
    ['engines', 'ready'],
  ] as const) {
    it(`stops in order, and leaves no engine behind, when ${command} is told to at “${moment}”`, async () => {
      const ports = ['--chat-port', '0', '--rooms-port', '0', '--logs-port', '0', '--operations-port', '0'];
      const fresh = temporaryDirectory();
      const child = owned(spawn(process.execPath, [ANNALS, command, '--data-dir', fresh.path, ...ports]));
      const pids: number[] = [];
      let told = false;
      createInterface({ input: child.stdout }).on('line', (line) => {
        const { msg, engine, pid } = JSON.parse(line);
        if (engine && pid) pids.push(pid);
        if (told || !msg.startsWith(moment)) return;
        told = true;
        child.kill('SIGTERM');
      });
      const [code] = await once(child, 'exit');
      expect(code).to.equal(0);
      await eventually(() => pids.every((pid) => !isAlive(pid)));
      fresh.remove();
    });
  }

  it('tells streams to come back when it stops, and answers what is under way', async () => {
    const server = await start();
    const ada = await createRoom(server.urls.rooms ?? '', 'Ada');
    const stream = await fetch(`${server.urls.rooms}/rooms/${ada.roomId}/events`, {
      headers: { authorization: `Bearer ${ada.sessionToken}` },
    });
    const posts = Array.from({ length: 10 }, async (_, index) => ada.post(`last words ${index}`));
    await posts[0];
    const stopped = server.stop();
    const said = await stream.text();
    expect(said).to.match(/retry: \d+/);
    const outcomes = await Promise.allSettled(posts);
    expect(await stopped).to.equal(0);

    const again = await start();
    const { body } = await settledState(again, ada);
    const told = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.id] : []));
    expect(told).to.have.length.greaterThan(0);
    expect(body.messages.map(({ id }) => id)).to.include.members(told);
  });

  it('uses servers that are given, and starts none', async () => {
    const owner = await start();
    const list = await annals('reindex', '--list', '--data-dir', directory.path);
    expect('stdout' in list && list.stdout).to.match(/^rooms\.state +1 +rooms_state_v1_\w+/m);
    const { eventStoreUrl, mongoUrl } = JSON.parse(readFileSync(`${directory.path}/runtime.json`, 'utf8'));
    const other = temporaryDirectory();
    try {
      const urls = { ANNALS_EVENT_STORE_URL: eventStoreUrl, ANNALS_MONGO_URL: mongoUrl };
      const alone = await startServer(other.path, [], urls).catch((error) => error);
      expect(alone).to.have.property('message').that.contains('secret is not set');
      const secret = readFileSync(`${directory.path}/secret`, 'utf8').trim();
      const guest = await startServer(other.path, [], { ...urls, ANNALS_SECRET: secret });
      running.push(guest);
      const shown = guest.lines.join();
      for (const hidden of [secret, new URL(mongoUrl).password]) expect(shown).not.to.contain(hidden);
      expect(guest.enginePids).to.deep.equal([]);
      expect((await createRoom(guest.urls.rooms ?? '', 'Ada')).roomId).to.be.a('string');
      await guest.stop();
    } finally {
      other.remove();
      await owner.stop();
    }
  });
});
