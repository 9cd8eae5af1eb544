/** SIGKILL at critical moments: acknowledged writes survive, and repeated requests are applied once. */
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { type Engines, startEngines } from '@annals/engines/internal/supervisor/supervisor.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Kernel } from '../../bin/node/kernel.js';
import { catalog } from '../../domain/rooms/catalog.js';
import { messagesStream } from '../../domain/rooms/messages.js';
import { roomStream } from '../../domain/rooms/room.js';
import { servedStream } from '../../domain/shared/active-projection.js';
import { state } from '../../projections/rooms/room-state.js';
import { type Answered, call } from '../support/room-client.js';
import { ANNALS, type Server, startServer } from '../support/server-process.js';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { createTestKernel } from '../support/test-kernel.js';

const text = (bytes: number) => randomBytes(bytes).toString('base64url');
const signingPublicKey = { kty: 'EC', crv: 'P-256', x: text(32), y: text(32) };
/** Above the limit of rooms per hour. */
const FLAGS = ['rooms', '--rooms-create-per-hour', '1000000'];

interface Room {
  readonly roomId: string;
  readonly sessionToken: string;
}

/** A request with an idempotency key that may be repeated, and its first answer if there was one. */
interface Sent {
  readonly room: Room;
  readonly path: string;
  readonly key: string;
  readonly body: { readonly nonce: string };
  answer?: Answered<object>;
}

const annals = (...args: readonly string[]) => promisify(execFile)(process.execPath, [ANNALS, ...args]);

/** Client operations, wherever the server currently runs. */
function client(server: () => Server | undefined) {
  const base = () => server()?.urls.rooms ?? 'http://127.0.0.1:1';
  const send = ({ path, room, key, body }: Sent) =>
    call<object>(base(), 'POST', path, {
      token: room.sessionToken,
      headers: { 'idempotency-key': key },
      body,
    });
  const message = (room: Room, messageIndex = 0): Sent => {
    const same = { keyVersion: 1, chainId: text(16), chainKeyNonce: text(12), chainKeyCiphertext: text(48) };
    const own = { messageIndex, nonce: text(12), ciphertext: text(100), signature: text(64) };
    const path = `/rooms/${room.roomId}/messages`;
    return { room, path, key: randomUUID(), body: { ...same, ...own } };
  };
  return {
    message,
    send,
    enter: async () => (await call<Room>(base(), 'POST', '/rooms', { body: { signingPublicKey } })).body,

    /** Repeats under the same key until answered, as a client does. */
    async insist(sent: Sent, alive: () => boolean) {
      while (alive() && !sent.answer) {
        const answer = await send(sent).catch(() => undefined);
        if (answer && answer.status !== 503) sent.answer = answer;
      }
    },

    /** Every repetition gets the first answer, and every message is stored once. */
    async expectOnce(all: readonly Sent[]) {
      for (const sent of all) {
        const again = await send(sent);
        expect(again.status, JSON.stringify(again.body)).to.equal(201);
        if (sent.answer) expect(again.body).to.deep.equal(sent.answer.body);
      }
      for (const room of new Set(all.map((each) => each.room))) {
        const mine = all.filter((each) => each.room === room).map(({ body }) => body.nonce);
        const { roomId, sessionToken: token } = room;
        const stateAnswer = await call<{ messages: readonly { nonce: string }[] }>(
          base(),
          'GET',
          `/rooms/${roomId}/state`,
          {
            token,
          },
        );
        expect(stateAnswer.headers.get('consistency')).to.equal(null);
        expect(stateAnswer.body.messages.map(({ nonce }) => nonce))
          .to.have.members(mine)
          .and.have.length(mine.length);
      }
    },
  };
}

describe('a server killed at a critical moment', function () {
  this.timeout(120_000);
  const [data, own] = [temporaryDirectory(), temporaryDirectory()];
  let engines: Engines;
  let store: TcpProxy;
  let mongo: TcpProxy;
  let kernel: Kernel;
  let server: Server | undefined;
  const { enter, message, send, expectOnce } = client(() => server);

  const start = async () => {
    const urls = ['--event-store-url', store.url, '--mongo-url', `${mongo.url}&directConnection=true`];
    server = await startServer(own.path, [...urls, ...FLAGS]);
  };
  /** Kills it and restarts it with healthy stores. */
  const killAndStart = async () => {
    await server?.stop('SIGKILL');
    store.releaseAnswers();
    mongo.releaseAnswers();
    await start();
  };
  const typesIn = async (stream: string) => {
    const events = await kernel.log.read(stream);
    return typeof events === 'string' ? [events] : events.map(({ type }) => type);
  };

  before(async () => {
    engines = await startEngines({ dataDir: data.path, logger: silentLogger });
    [store, mongo] = [await startProxy(engines.eventStoreUrl), await startProxy(engines.mongoUrl)];
    kernel = await createTestKernel({
      servers: engines,
      database: 'annals',
      catalogs: [catalog],
      projections: [state],
    });
    await start();
  });
  after(async () => {
    await server?.stop('SIGKILL');
    await Promise.all([store?.close(), mongo?.close(), kernel?.close()]);
    await engines?.stop();
    data.remove();
    own.remove();
  });

  it('between append and answer: the message is stored once, and its repetition is answered', async () => {
    const rooms = await Promise.all(Array.from({ length: 4 }, enter));
    const first = rooms.map((room) => message(room));
    for (const sent of first) sent.answer = await send(sent);
    const second = rooms.map((room) => message(room, 1));
    store.holdAnswers();
    const unanswered = Promise.allSettled(second.map(send));
    for (const { roomId } of rooms) await eventually(async () => (await typesIn(messagesStream(roomId))).length === 2);
    await killAndStart();
    for (const { status } of await unanswered) expect(status).to.equal('rejected');
    await expectOnce([...first, ...second]);
    for (const { roomId } of rooms) expect(await typesIn(messagesStream(roomId))).to.have.length(2);
  });

  it("within a projection's batch: rows ahead of their checkpoint change nothing twice", async () => {
    const room = await enter();
    const before = message(room);
    before.answer = await send(before);
    await expectOnce([before]);
    const { collection = '' } = (await kernel.lifecycle.current(state)).state ?? {};
    const rows = kernel.mongo.models.collection<{ _id: string }>(collection);
    const lastWritten = async () => {
      const written = await kernel.log.read(messagesStream(room.roomId));
      return typeof written === 'string' ? 0n : written.at(-1)!.position;
    };
    const saved = async () => (await kernel.checkpoints.read(collection)) ?? 0n;
    // Holds back new events, not the rest of the batch before.
    const first = await lastWritten();
    await eventually(async () => (await saved()) >= first);
    const more = Array.from({ length: 5 }, (_, index) => message(room, index + 1));
    mongo.holdAnswers();
    const answers = Promise.allSettled(more.map(send));
    await eventually(async () => {
      const found = await rows.find({ room: room.roomId }).toArray();
      return found.flatMap((row) => (row as { messages?: unknown[] }).messages ?? []).length > 1;
    });
    expect(Number(await saved())).to.be.lessThan(Number(await lastWritten()));
    await killAndStart();
    await answers;
    await expectOnce([before, ...more]);
  });

  it('while switching to a new build: the new build is served and complete', async () => {
    const rooms = await Promise.all(Array.from({ length: 3 }, enter));
    const sent = rooms.map((room) => message(room));
    for (const each of sent) each.answer = await send(each);
    const { collection: before } = (await kernel.lifecycle.current(state)).state!;
    mongo.holdAnswers();
    const urls = ['--event-store-url', engines.eventStoreUrl, '--mongo-url', engines.mongoUrl];
    const rebuilding = annals('reindex', 'rooms.state', ...urls, '--data-dir', own.path);
    await eventually(async () => (await typesIn(servedStream(state.name))).length > 1);
    await killAndStart();
    await rebuilding;
    const { collection } = (await kernel.lifecycle.current(state)).state!;
    expect(collection).not.to.equal(before);
    await expectOnce(sent);
    await eventually(async () => !(await kernel.builds.list('rooms_state_v')).includes(before));
  });

  it('during a burn: the room is permanently gone, although the request got no answer', async () => {
    const room = await enter();
    const sent = message(room);
    sent.answer = await send(sent);
    store.holdAnswers();
    const burn = { ...sent, path: `/rooms/${room.roomId}/burn`, key: randomUUID() };
    const unanswered = Promise.allSettled([send(burn)]);
    await eventually(async () => (await typesIn(roomStream(room.roomId))).includes('RoomBurned'));
    expect(await kernel.vault.seal(roomStream(room.roomId), {})).to.be.a('string');
    await killAndStart();
    expect((await unanswered)[0]?.status).to.equal('rejected');
    await eventually(async () => (await typesIn(roomStream(room.roomId))).includes('RoomErased'));
    kernel.vault.forget(roomStream(room.roomId));
    expect(await kernel.vault.seal(roomStream(room.roomId), {})).to.equal(undefined);
    expect(await typesIn(messagesStream(room.roomId))).to.deep.equal(['deleted']);
    expect((await send(burn)).status).to.equal(200);
    const types = await typesIn(roomStream(room.roomId));
    expect(types.filter((type) => type === 'RoomBurned' || type === 'RoomErased')).to.have.length(2);
    expect((await send(sent)).status).to.equal(404);
  });

  it('has read models equal to their rebuild', async () => {
    const urls = ['--event-store-url', engines.eventStoreUrl, '--mongo-url', engines.mongoUrl];
    const { stdout } = await annals('reindex', '--check', ...urls, '--data-dir', own.path);
    expect(stdout).to.match(/rooms\.state: equals its rebuild/);
  });
});

describe('all processes killed at once under load', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  const all: Sent[] = [];
  let server: Server | undefined;
  const { enter, message, insist, expectOnce } = client(() => server);

  after(async () => {
    await server?.stop('SIGKILL');
    directory.remove();
  });

  /** Posts from several clients until this many are acknowledged; then `kill`. */
  async function under(load: number, kill: (server: Server) => Promise<unknown>) {
    server ??= await startServer(directory.path, FLAGS);
    const running = server;
    let alive = true;
    const acknowledged = () => all.filter(({ answer }) => answer).length;
    const enough = acknowledged() + load;
    const posters = Array.from({ length: 4 }, async () => {
      const room = await enter();
      for (let index = 0; alive && index < 30; index++) {
        const sent = message(room, index);
        all.push(sent);
        await insist(sent, () => alive);
      }
    });
    await eventually(() => acknowledged() >= enough);
    await kill(running);
    alive = false;
    await Promise.all(posters);
  }

  it('loses nothing acknowledged and stores repeated requests once', async () => {
    await under(20, async ({ enginePids, child, stop }) => {
      for (const pid of [...enginePids, child.pid!]) process.kill(pid, 'SIGKILL');
      await stop('SIGKILL');
      server = undefined;
    });
    await under(20, async ({ enginePids, pids }) => {
      const before = enginePids.length;
      process.kill(pids.eventstore!, 'SIGKILL');
      await eventually(() => enginePids.length > before);
    });
    await expectOnce(all);
  });

  it('has read models equal to their rebuild', async () => {
    const { stdout } = await annals('reindex', '--check', '--data-dir', directory.path);
    expect(stdout).to.match(/rooms\.state: equals its rebuild/);
  });
});
