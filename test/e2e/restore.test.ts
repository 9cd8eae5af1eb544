/** `annals restore`: a backup becomes the data directory as a whole or not at all, and no data is overwritten. */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { call, createRoom, type RoomClient, type RoomState } from '../support/room-client.js';
import { type Ended, run, type Server, start, startServer } from '../support/server-process.js';

describe('annals restore', function () {
  this.timeout(240_000);
  const directory = temporaryDirectory();
  const place = (name: string) => join(directory.path, name);
  const [dataDir, backup] = [place('data'), place('backup')];
  let server: Server | undefined;
  let room: RoomClient;
  /** Ids of the messages in the backup. */
  let backedUp: readonly string[];

  before(async () => {
    server = await startServer(dataDir, ['rooms']);
    room = await createRoom(server.urls.rooms ?? '', 'Ada');
    backedUp = [(await room.post('in the backup')).id];
    done(await run(['backup', backup, '--data-dir', dataDir]));
    await room.post('after the backup');
    await stop();
  });
  afterEach(() => stop());
  after(() => directory.remove());

  const stop = async () => {
    await server?.stop();
    server = undefined;
  };
  const restore = (to: string, ...more: string[]) => run(['restore', backup, '--data-dir', to, ...more]);
  const done = ({ code, stderr }: Ended) => expect([code, stderr]).to.deep.equal([0, '']);
  const refused = ({ code, stdout, stderr }: Ended) => {
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/^annals: [^\n]*\n$/);
    return stderr.slice('annals: '.length, -1);
  };
  const messagesIn = async (data: string) => {
    server = await startServer(data, ['rooms']);
    const { roomId, sessionToken: token } = room;
    const { status, body } = await call<RoomState>(server.urls.rooms ?? '', 'GET', `/rooms/${roomId}/state`, { token });
    expect(status).to.equal(200);
    await stop();
    return body.messages.map(({ id }) => id);
  };

  it('refuses a data directory that is in use or has data', async () => {
    server = await startServer(dataDir, ['rooms']);
    expect(refused(await restore(dataDir))).to.equal(
      `${dataDir} is not empty; stop its server and give --replace to move its data aside`,
    );
    expect(refused(await restore(dataDir, '--replace'))).to.equal(
      `${dataDir} is in use by process ${server.child.pid}`,
    );
    expect(refused(await run(['restore', dataDir, '--data-dir', place('other')]))).to.equal(
      `${dataDir} is in use by a server; stop it first`,
    );
    await stop();
    expect(await messagesIn(dataDir)).to.have.length(2);
  });

  it('restores to a new or an empty directory and leaves the backup as it is', async () => {
    mkdirSync(place('empty'));
    const before = readdirSync(backup, { recursive: true }).length;
    for (const name of ['new', 'empty']) {
      const ended = await restore(place(name));
      done(ended);
      expect(ended.stdout).to.match(/^event store: \d+\.\d MB\nMongoDB: \d+\.\d MB\nfiles: 0, 0\.0 MB\n/);
      expect(ended.stdout).to.include(`\nstart the server: annals serve --data-dir ${place(name)}\n`);
      expect(await messagesIn(place(name))).to.deep.equal(backedUp);
    }
    expect(readdirSync(backup, { recursive: true }).length).to.be.at.least(before);
    done(await restore(place('again')));
  });

  it('moves present data aside with --replace', async () => {
    const ended = await restore(dataDir, '--replace');
    done(ended);
    const [, aside = ''] = /^the former data is in (\S+);/m.exec(ended.stdout) ?? [];
    expect(await messagesIn(dataDir)).to.deep.equal(backedUp);
    expect(await messagesIn(aside)).to.have.length(2);
    rmSync(dataDir, { recursive: true });
    cpSync(aside, dataDir, { recursive: true });
    rmSync(aside, { recursive: true });
  });

  it('leaves the data as before or complete when killed at any moment, and the next run starts over', async () => {
    const to = place('killed');
    for (const seen of ['eventstore/log/data.mdb', 'mongo/data.mdb', 'runtime.json']) {
      const startedAt = Date.now();
      const killed = start(['restore', backup, '--data-dir', to]);
      const isBegun = () => Number(statSync(`${to}.unfinished`, { throwIfNoEntry: false })?.birthtimeMs) > startedAt;
      let isOver = false;
      void killed.ended.then(() => {
        isOver = true;
      });
      // Without pauses, from the moment that it copies: until then that would take a core from its start.
      while (!isOver && !isBegun()) await delay(1);
      while (!isOver && !existsSync(join(`${to}.unfinished`, seen))) await setImmediate();
      killed.process.kill('SIGKILL');
      await killed.ended;
      expect(existsSync(to)).to.equal(false);
    }
    done(await restore(to));
    expect(existsSync(`${to}.unfinished`)).to.equal(false);
    expect(await messagesIn(to)).to.deep.equal(backedUp);
  });

  it('keeps the former data when it is killed while replacing it', async () => {
    const killed = start(['restore', backup, '--data-dir', dataDir, '--replace']);
    await killed.printed(/event store/);
    killed.process.kill('SIGKILL');
    await killed.ended;
    expect(await messagesIn(dataDir)).to.have.length(2);
  });

  it('refuses what is not a complete backup, and creates nothing', async () => {
    const to = place('refused');
    const from = (name: string) => run(['restore', place(name), '--data-dir', to]);
    mkdirSync(place('other'));
    expect(refused(await from('other'))).to.equal(`${place('other')} is not a backup: it has no file "stores"`);
    expect(refused(await from('missing'))).to.match(/is not a backup/);
    cpSync(backup, place('cut'), { recursive: true });
    truncateSync(join(place('cut'), 'mongo', 'data.mdb'));
    expect(refused(await from('cut'))).to.match(/^\S+cut is damaged, or was made by another build/);
    cpSync(backup, place('half.unfinished'), { recursive: true });
    expect(refused(await from('half.unfinished'))).to.match(/is an unfinished copy/);
    expect(refused(await restore(join(backup, 'data')))).to.match(/inside each other/);
    expect(readdirSync(directory.path).filter((name) => name.startsWith('refused'))).to.deep.equal([]);
  });

  it('refuses a damaged backup, and creates nothing', async () => {
    const to = place('damaged');
    cpSync(backup, place('short'), { recursive: true });
    truncateSync(join(place('short'), 'eventstore', 'log', 'data.mdb'), 8192);
    const { code, stderr } = await run(['restore', place('short'), '--data-dir', to]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^annals: \S+short is damaged, or was made by another build of Annals; choose [^\n]*\n$/m);
    expect(readdirSync(directory.path).filter((name) => name.startsWith('damaged'))).to.deep.equal([]);
  });

  it('refuses configured servers and names the alternative', async () => {
    const given = ['--mongo-url', 'mongodb://127.0.0.1:1', '--event-store-url', 'esdb://127.0.0.1:1?tls=false'];
    expect(refused(await restore(place('given'), ...given))).to.match(
      /^restore configured servers with their own tools/,
    );
    expect(existsSync(place('given'))).to.equal(false);
  });
});
