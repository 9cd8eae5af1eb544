/** `annals backup` beside a running server: the copy contains everything acknowledged before, or no copy is made. */
import { existsSync, lstatSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { logClient } from '../support/log-client.js';
import { call, createRoom, type RoomClient, type RoomState } from '../support/room-client.js';
import { type Ended, run, type Server, start, startServer } from '../support/server-process.js';

describe('a backup', function () {
  this.timeout(240_000);
  const directory = temporaryDirectory();
  const dataDir = join(directory.path, 'data');
  const SERVED = ['rooms', 'logs', '--rooms-create-per-hour', '100000'];
  let server: Server;
  let copied: Server | undefined;
  let room: RoomClient;

  before(async () => {
    server = await startServer(dataDir, SERVED);
    room = await createRoom(server.urls.rooms ?? '', 'Ada');
    await logClient(server.urls.logs ?? '').ingest([{ message: 'before' }]);
    expect(await messagesIn(server, room)).to.deep.equal([]);
  });
  afterEach(async () => {
    await copied?.stop('SIGKILL');
  });
  after(async () => {
    await server?.stop('SIGKILL');
    directory.remove();
  });

  const place = (name: string) => join(directory.path, name);
  const backup = (to: string) => run(['backup', to, '--data-dir', dataDir]);
  const messagesIn = async (from: Server, { roomId, sessionToken: token }: RoomClient) => {
    const path = `/rooms/${roomId}/state`;
    for (;;) {
      const { status, headers, body } = await call<RoomState>(from.urls.rooms ?? '', 'GET', path, { token });
      expect(status).to.equal(200);
      // A slow machine may need more than the two seconds for which a read waits.
      if (headers.get('consistency') !== 'pending') return body.messages.map(({ id }) => id);
    }
  };
  const builtAnew = ({ lines }: Server) => lines.filter((line) => line.includes('ahead of the log')).length;
  const done = ({ code, stderr }: Ended) => expect([code, stderr]).to.deep.equal([0, '']);

  interface Made {
    readonly room: RoomClient;
    /** Ids of acknowledged messages. */
    readonly messages: string[];
  }

  /** Creates rooms and posts messages from three clients until it is ended. */
  function work() {
    const all: Made[] = [];
    let isEnded = false;
    const lane = async () => {
      while (!isEnded) {
        const made: Made = { room: await createRoom(server.urls.rooms ?? '', 'Bob'), messages: [] };
        all.push(made);
        while (!isEnded && made.messages.length < 10) made.messages.push((await made.room.post('under way')).id);
      }
    };
    const lanes = [lane(), lane(), lane()];
    return {
      all,
      acknowledged: () => all.map((made) => ({ ...made, messages: [...made.messages] })),
      async end() {
        isEnded = true;
        await Promise.all(lanes);
      },
    };
  }

  async function expectIn(from: Server, made: readonly Made[]) {
    for (const { room, messages } of made) expect(await messagesIn(from, room)).to.include.members([...messages]);
  }

  /** A backup taken under load, and what was acknowledged before it started. */
  async function busy() {
    const under = work();
    await eventually(() => under.all.length > 6);
    // Repeats until a write fell between the two copies, which takes only a moment.
    for (let made = 0; ; made++) {
      const to = place(`busy ${made}`);
      const before = under.acknowledged();
      const ended = await backup(to);
      done(ended);
      if (!ended.stdout.includes('rebuilt at its first start')) continue;
      await under.end();
      return { to, before, ended };
    }
  }

  it('contains everything acknowledged before it began, with rows equal to its log', async () => {
    const { to, before, ended } = await busy();
    expect(ended.stdout).to.match(/^event store: \d+\.\d MB\nMongoDB: \d+\.\d MB\nfiles: 0, 0\.0 MB\n/);
    expect(ended.stdout).to.include(`${to}: `);
    expect(existsSync(`${to}.unfinished`)).to.equal(false);

    copied = await startServer(to, SERVED);
    // Both services rebuild: rows are written before their checkpoint.
    expect(builtAnew(copied)).to.be.at.least(2);
    await expectIn(copied, before);
    const checked = await run(['reindex', '--check', '--data-dir', to]);
    expect(checked.stdout).not.to.include('differ');
    expect(checked.code, checked.stdout + checked.stderr).to.equal(0);
    expect(await copied.stop()).to.equal(0);
  });

  it('is readable by the current user only', async () => {
    done(await backup(place('closed')));
    const open: string[] = [];
    const look = (path: string) => {
      const stats = lstatSync(path);
      if (stats.mode & 0o077) open.push(path);
      if (stats.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
    };
    look(place('closed'));
    expect(open).to.deep.equal([]);
    expect(readdirSync(place('closed'))).to.include.members(['eventstore', 'mongo', 'secret', 'stores']);
  });

  it('is complete or absent when killed at any moment, and the next run starts over', async () => {
    const to = place('killed');
    const under = work();
    let isWhole = false;
    for (const seen of ['eventstore/log/data.mdb', 'mongo/data.mdb', 'runtime.json']) {
      const startedAt = Date.now();
      const killed = start(['backup', to, '--data-dir', dataDir]);
      const isBegun = () => Number(statSync(`${to}.unfinished`, { throwIfNoEntry: false })?.birthtimeMs) > startedAt;
      let isOver = false;
      void killed.ended.then(() => {
        isOver = true;
      });
      const isSeen = () => [`${to}.unfinished`, to].some((made) => existsSync(join(made, seen)));
      // Without pauses, from the moment that it copies: until then that would take a core from its start.
      while (!isOver && !isBegun()) await delay(1);
      while (!isOver && !isSeen()) await setImmediate();
      killed.process.kill('SIGKILL');
      await killed.ended;
      // The backup may have completed in the same moment.
      isWhole = existsSync(to);
      if (isWhole) break;
    }
    await under.end();
    if (!isWhole) done(await backup(to));
    copied = await startServer(to, SERVED);
    if (!isWhole) await expectIn(copied, under.all);
    expect(await copied.stop()).to.equal(0);
  });

  it('refuses configured servers and names the alternative', async () => {
    const to = place('given');
    const given = ['--mongo-url', 'mongodb://127.0.0.1:1', '--event-store-url', 'esdb://127.0.0.1:1?tls=false'];
    const { code, stdout, stderr } = await run(['backup', to, ...given]);
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/^annals: back up configured servers with their own tools: [^\n]*\n$/);
    expect(existsSync(to)).to.equal(false);
  });

  it('refuses an existing target directory', async () => {
    const { code, stdout, stderr } = await backup(directory.path);
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.equal(`annals: ${directory.path} already exists; choose a new directory\n`);
  });

  it('refuses a target inside the data directory, also through symbolic links', async () => {
    const link = place('link');
    symlinkSync(dataDir, link);
    for (const to of [join(dataDir, 'copy'), join(dataDir, 'new', 'copy'), join(link, 'files', 'copy'), dataDir]) {
      const { code, stdout, stderr } = await backup(to);
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.equal(
        `annals: ${to} is inside the data directory ${dataDir}; choose a directory outside of it\n`,
      );
    }
    expect(readdirSync(dataDir)).not.to.include.members(['new']);
    expect(readdirSync(dataDir).filter((name) => name.includes('copy'))).to.deep.equal([]);
  });

  it('leaves nothing behind when interrupted', async () => {
    const to = place('interrupted');
    const interrupted = start(['backup', to, '--data-dir', dataDir]);
    await interrupted.printed(/event store/);
    interrupted.process.kill('SIGINT');
    const { code, stderr } = await interrupted.ended;
    expect([code, stderr]).to.deep.equal([1, 'annals: stopped; the unfinished copy was removed\n']);
    expect(readdirSync(directory.path).filter((name) => name.startsWith('interrupted'))).to.deep.equal([]);
  });

  it('is served without a rebuild when nothing was written meanwhile, whether the server runs or not', async () => {
    await room.post('before');
    const before = await messagesIn(server, room);
    done(await backup(place('quiet')));
    expect(await server.stop()).to.equal(0);
    done(await backup(place('stopped')));
    for (const name of ['quiet', 'stopped']) {
      copied = await startServer(place(name), SERVED);
      expect([builtAnew(copied), await messagesIn(copied, room)]).to.deep.equal([0, before]);
      expect(await copied.stop()).to.equal(0);
    }
  });
});
