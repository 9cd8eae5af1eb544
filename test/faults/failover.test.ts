/** Store connections that die during requests: 503, never 500, and nothing happens twice. */
import { type Engines, startEngines } from '@annals/engines/internal/supervisor/supervisor.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { call, createRoom, type RoomClient } from '../support/room-client.js';
import { type Server, startServer } from '../support/server-process.js';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.js';

describe('a connection that dies during a request', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  const engineDirectory = temporaryDirectory();
  let servers: Engines;
  let log: TcpProxy;
  let models: TcpProxy;
  let server: Server;
  let room: RoomClient;

  before(async () => {
    servers = await startEngines({ dataDir: engineDirectory.path, logger: silentLogger });
    log = await startProxy(servers.eventStoreUrl);
    models = await startProxy(servers.mongoUrl);
    server = await startServer(directory.path, ['rooms', 'logs'], {
      ANNALS_EVENT_STORE_URL: log.url,
      // Otherwise the driver would ask the server for the members of its set and connect to those.
      ANNALS_MONGO_URL: models.url.replace(/replicaSet=\w+/, 'directConnection=true'),
    });
    room = await createRoom(base('rooms'), 'Ada');
  });
  after(async () => {
    await server?.stop();
    await Promise.all([log?.close(), models?.close()]);
    await servers?.stop();
    directory.remove();
    engineDirectory.remove();
  });
  afterEach(() => {
    log.cutAfter();
    models.cutAfter();
  });

  const base = (service: string) => server.urls[service] ?? '';
  const token = () => ({ token: room.sessionToken });
  const create = () => {
    const { signingPublicKey } = room.participants[0]!;
    const body = { participantName: 'Bob', signingPublicKey, ttlMs: 3_600_000 };
    return call(base('rooms'), 'POST', '/rooms', { body });
  };
  const inRoom = (method: string, path: string, body?: object) =>
    call<object>(base('rooms'), method, `/rooms/${room.roomId}${path}`, { ...token(), body });
  const ask = async (method: string, path: string, body?: string) => {
    const answer = await fetch(base('logs') + path, { method, ...(body && { body }) });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  };

  async function refused(request: Promise<{ status: number; headers: Headers; body: unknown }>) {
    const { status, headers, body } = await request;
    expect(status, JSON.stringify(body)).to.equal(503);
    expect(Number(headers.get('retry-after'))).to.be.at.least(1);
  }

  describe('to MongoDB', () => {
    for (const [what, mark, request] of [
      ['a create', 'findAndModify', create],
      ['a read of the state', 'rooms_state', () => inRoom('GET', '/state')],
      ['a query of records', 'blocks', () => ask('GET', '/api/logs?q=nothing')],
      ['an aggregate', 'hours', () => ask('GET', '/api/logs/aggregate?groupBy=level')],
      ['a rebuild', 'build:', () => ask('POST', '/api/reindex')],
    ] as const) {
      it(`answers 503 for ${what}`, async () => {
        const before = models.cuts();
        models.cutAfter(mark);
        await refused(request());
        expect(models.cuts()).to.be.greaterThan(before);
        models.cutAfter();
        await eventually(async () => (await request()).status < 300);
      });
    }

    it('delays rows of accepted writes without losing any', async () => {
      // The day's key is created with its first record, which needs MongoDB.
      expect((await ask('POST', '/api/ingest', '{"message":"before"}')).status).to.equal(200);
      models.cutAfter('rooms_state', 'logs_records');
      const taken = await room.post('meanwhile');
      const ingested = await ask('POST', '/api/ingest', '{"message":"meanwhile"}');
      expect(ingested.status).to.equal(200);
      models.cutAfter();
      await eventually(async () => (await room.state()).messages.some(({ id }) => id === taken.id));
      await eventually(async () => (await ask('GET', '/api/logs?q=meanwhile')).body.includes('meanwhile'));
    });
  });

  describe('to the event store', () => {
    it('answers 503 for a create, a post, an ingest and a read that needs the log', async () => {
      const envelope = await room.seal('never');
      log.cutAfter('rooms.room-', 'rooms.messages-', 'logs.batch-');
      await Promise.all([
        refused(create()),
        refused(inRoom('POST', '/messages', envelope)),
        refused(ask('POST', '/api/ingest', '{"message":"never"}')),
        refused(call(base('rooms'), 'GET', `/rooms/${'x'.repeat(22)}/state`, token())),
      ]);
      log.cutAfter();
      await eventually(async () => (await create()).status === 201);
    });

    it('applies a write once when its acknowledgement was lost', async () => {
      log.cutAfter('rooms.MessagePosted.');
      const before = log.cuts();
      const { status, body } = await inRoom('POST', '/messages', await room.seal('once'));
      expect(log.cuts()).to.be.greaterThan(before);
      log.cutAfter();
      expect([status, body]).to.have.property('0', 201);
      const plain = await eventually(async () => {
        const read = await room.read();
        return read.includes('once') && read;
      });
      expect(plain.filter((text) => text === 'once')).to.have.length(1);
    });
  });
});
