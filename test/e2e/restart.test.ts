/** Consistency guarantees of a node after a start. */
import { randomBytes, randomUUID } from 'node:crypto';
import { type Engines, startEngines } from '@annals/engines/internal/supervisor/supervisor.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { jsonEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import { Binary } from 'mongodb';
import { createKernel, type Kernel, noMetrics } from '../../bin/node/kernel.js';
import { secretSource } from '../../bin/node/secret.js';
import { loadServices } from '../../bin/services/all.js';
import { logClient, tailed } from '../support/log-client.js';
import { call, createRoom, type RoomClient, type RoomState } from '../support/room-client.js';
import { freePort, run, type Server, startServer } from '../support/server-process.js';
import { streams } from './restart/streams-suite.js';

interface Ready {
  readonly ok: boolean;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail?: string }[];
}

describe('after a start', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let engines: Engines;
  /** Another node on the same engines, which keep running when the server is killed. */
  let other: Kernel;
  let server: Server;
  let flags: readonly string[];

  const isUp = () => server?.child.exitCode === null && server.child.signalCode === null;
  /** The server left by an earlier test, if any; each test has records and rooms of its own. */
  const serve = async () => {
    if (!isUp()) server = await startServer(directory.path, flags);
  };
  const restart = async () => {
    await server?.stop('SIGKILL');
    await serve();
  };
  before(async () => {
    engines = await startEngines({ dataDir: directory.path, logger: silentLogger });
    other = await createKernel({
      metrics: noMetrics,
      ...engines,
      mongoDatabase: 'annals',
      node: randomUUID(),
      release: 'test',
      catalogs: (await loadServices()).map(({ catalog }) => catalog),
      projections: [],
      logger: silentLogger,
      secret: (keys) => secretSource({ dataDir: directory.path, secret: undefined }, { kind: 'embedded' }, keys),
    });
    flags = ['rooms', 'logs', '--rooms-port', await freePort(), '--logs-port', await freePort()];
  });
  after(async () => {
    await server?.stop('SIGKILL');
    await other?.close();
    await engines?.stop();
    directory.remove();
  });

  const rooms = () => server.urls.rooms ?? '';
  const logs = () => logClient(server.urls.logs ?? '');
  const state = ({ roomId, sessionToken: token }: RoomClient) =>
    call<RoomState>(rooms(), 'GET', `/rooms/${roomId}/state`, { token });
  const ready = async () => (await (await fetch(`${server.urls.operations}/health/ready`)).json()) as Ready;
  const isReady = () => eventually(async () => (await ready()).ok);

  it('answers are marked pending, and readiness fails, until the rows include the whole log', async () => {
    const names = ['projector:rooms', 'projector:logs'];
    const leases = await Promise.all(names.map((name) => other.leases.acquire(name)));
    await serve();
    const ada = await createRoom(rooms(), 'Ada');
    const { id } = await ada.post('Before the crash');
    await logs().ingest([{ message: 'before the crash' }]);
    await restart();

    const [room, page] = await Promise.all([state(ada), logs().ask('GET', '/api/logs?q=crash')]);
    for (const { status, headers } of [room, page])
      expect([status, headers.get('consistency')]).to.deep.equal([200, 'pending']);
    const { ok, checks } = await ready();
    expect(ok).to.equal(false);
    for (const service of ['rooms', 'logs'])
      expect(checks.find(({ name }) => name === `projector ${service}`)).to.include({ ok: false });

    await Promise.all(leases.map((lease) => lease?.release()));
    await isReady();
    const [shown, found] = await Promise.all([
      state(ada),
      logs().ask<{ entries: object[] }>('GET', '/api/logs?q=crash'),
    ]);
    expect(shown.body.messages.map((each) => each.id)).to.deep.equal([id]);
    expect(found.body.entries).to.have.length(1);
    for (const { headers } of [shown, found]) expect(headers.get('consistency')).to.equal(null);
  });

  streams({ server: () => server, other: () => other, serve, restart });

  it('a large import reaches followers over one connection', async () => {
    const count = 20_000;
    await serve();
    let connected = () => {};
    const connection = new Promise<void>((resolve) => {
      connected = resolve;
    });
    const tailing = tailed(`${server.urls.logs}/api/logs/tail?event=imported`, (all) => all.length === count, {
      connected,
    });
    await connection;
    const lines = Array.from({ length: count }, (_, n) =>
      JSON.stringify({ n, event: 'imported', noise: randomBytes(180).toString('base64') }),
    );
    const { code, stderr } = await run(
      ['logs', 'import', '-', '--url', server.urls.logs ?? ''],
      `${lines.join('\n')}\n`,
    );
    expect(code, stderr).to.equal(0);
    const { entries, reset } = await tailing;
    expect(entries.map(({ data }) => data.n)).to.deep.equal(Array.from({ length: count }, (_, n) => n));
    expect(reset).to.equal(false);
  });

  it('events that cannot be decrypted are skipped and reported in log, metrics and health', async () => {
    await serve();
    const ada = await createRoom(rooms(), 'Ada');
    await server.stop('SIGKILL');
    const { roomId } = ada;
    const damaged = {
      roomId,
      participantId: 'ghost',
      joinedAt: 0,
      tokenHash: '',
      secret: 'ZGFtYWdlZCBiZXlvbmQgcmVwYWly',
    };
    await other.client.appendToStream(`rooms.room-${roomId}`, [
      jsonEvent({ type: 'rooms.ParticipantJoined.v1', data: damaged }),
    ]);
    await serve();
    await isReady();
    expect((await ready()).checks.find(({ name }) => name === 'sealed events')?.detail).to.match(/^1 /);
    const metrics = await (await fetch(`${server.urls.operations}/metrics`)).text();
    expect(metrics).to.match(/^annals_unopened_total 1$/m);
    const warnings = server.lines.filter((line) => line.includes('cannot be decrypted'));
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include(`rooms.room-${roomId}`);
    const { id } = await ada.post('All the same');
    const { status, body } = await state(ada);
    expect([status, body.messages.map((each) => each.id)]).to.deep.equal([200, [id]]);
  });

  it('events sealed with a key that is damaged in any part are skipped', async () => {
    await serve();
    const [ada, bob, eve] = [
      await createRoom(rooms(), 'Ada'),
      await createRoom(rooms(), 'Bob'),
      await createRoom(rooms(), 'Eve'),
    ];
    for (const room of [ada, bob, eve]) await room.post('Sealed');
    await server.stop('SIGKILL');
    const keys = other.mongo.keys.collection<{ _id: string }>('keys');
    const damage = async ({ roomId }: RoomClient, $set: object) => {
      const { modifiedCount } = await keys.updateOne({ _id: `rooms.room-${roomId}` }, { $set });
      expect(modifiedCount).to.equal(1);
    };
    await damage(ada, { under: 'nobody' });
    await damage(bob, { wrapped: new Binary(randomBytes(60)) });
    await serve();
    await isReady();
    const warnings = server.lines.filter((line) => line.includes('cannot be decrypted'));
    for (const { roomId } of [ada, bob]) expect(warnings.join()).to.include(`rooms.room-${roomId}`);
    const { id } = await eve.post('All the same');
    expect((await state(eve)).body.messages.map((each) => each.id)).to.include(id);
  });
});
