/** Shared server capacity: a household is served in full; a network that tries to take everything is limited. */
import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { call, createRoom, type RoomClient } from '../support/room-client.js';
import { type Server, startServer } from '../support/server-process.js';

/** Connections that the usual limit of 1024 open files allows. */
const CONNECTIONS = 768;
const PEOPLE = 50;

describe('shared connection capacity', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  const agent = new Agent({ keepAlive: false });
  const streams: ClientRequest[] = [];
  let server: Server;
  before(async () => {
    const flags = ['rooms', 'logs', '--server-connections', String(CONNECTIONS), '--rooms-create-per-hour', '1000'];
    server = await startServer(directory.path, flags);
  });
  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.destroy();
    await eventually(async () => (await gauge('annals_budget_used', 'streams')) === 0);
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  async function gauge(name: string, budget: string): Promise<number> {
    const metrics = await (await fetch(`${server.urls.operations}/metrics`)).text();
    return Number(new RegExp(`^${name}\\{budget="${budget}"\\} (\\d+)$`, 'm').exec(metrics)?.[1]);
  }

  /** Resolves with the response head; event streams stay open, other bodies are read. */
  async function get(service: string, path: string, localAddress = '127.0.0.1'): Promise<IncomingMessage> {
    const sentRequest = request(`${server.urls[service]}${path}`, { agent, localAddress }).end();
    const [response] = (await once(sentRequest, 'response')) as [IncomingMessage];
    // The server may close the connection at the end.
    response.on('error', () => {}).resume();
    if (response.statusCode === 200) streams.push(sentRequest);
    return response;
  }

  it('serves fifty people behind one address with four streams each, all posting at once', async () => {
    const base = server.urls.rooms ?? '';
    // Joins are paced: a busy machine answers 503 to long waits, and joining is not tested here.
    const people: RoomClient[] = [];
    for (let nth = 0; nth < PEOPLE; nth += 5)
      people.push(...(await Promise.all([0, 1, 2, 3, 4].map((more) => createRoom(base, `${nth + more}`)))));
    const opened = people.flatMap(({ roomId, sessionToken }) => [
      ...[1, 2, 3].map(() => get('rooms', `/rooms/${roomId}/events?token=${sessionToken}`)),
      get('logs', '/api/logs/tail'),
    ]);
    for (const { statusCode } of await Promise.all(opened)) expect(statusCode).to.equal(200);
    const posted = people.flatMap((person) => [1, 2].map((nth) => person.post(`message ${nth}`)));
    expect(await Promise.all(posted)).to.have.length(2 * PEOPLE);
    expect(await gauge('annals_budget_used', 'streams')).to.equal(4 * PEOPLE);
  });

  it('leaves capacity for others when a network opens streams up to its limit', async () => {
    let refused: IncomingMessage | undefined;
    for (let nth = 0; nth < CONNECTIONS && !refused; nth++) {
      const response = await get('logs', '/api/logs/tail');
      if (response.statusCode !== 200) refused = response;
    }
    expect(refused?.statusCode).to.equal(429);
    expect(Number(refused?.headers['retry-after'])).to.be.greaterThan(0);
    expect(streams.length).to.be.greaterThan(4 * PEOPLE);

    expect((await get('logs', '/api/logs/tail', '127.0.0.2')).statusCode).to.equal(200);
    const ada = await createRoom(server.urls.rooms ?? '', 'Ada');
    expect(await ada.post('from the same network, which may still ask')).to.have.property('id');
    expect((await get('rooms', `/rooms/${ada.roomId}/events`, '127.0.0.2')).statusCode).to.equal(401);
  });

  it('counts all clients behind an untrusted proxy as one, and logs it', async () => {
    const warnings = () => server.lines.filter((line) => line.includes('server.trustedProxies')).length;
    expect(warnings()).to.equal(0);
    for (const forwarded of ['192.0.2.1', '192.0.2.2'])
      await fetch(`${server.urls.rooms}/health`, { headers: { 'X-Forwarded-For': forwarded } });
    await eventually(() => warnings() > 0);
    expect(warnings()).to.equal(1);
  });

  it('reports usage and limits in metrics', async () => {
    for (const budget of ['connections', 'requests', 'streams', 'bodies', 'logs.intake']) {
      const most = await gauge('annals_budget_limit', budget);
      expect(most, budget).to.be.greaterThan(0);
      expect(await gauge('annals_budget_used', budget), budget).to.be.within(0, most);
    }
    expect(await gauge('annals_budget_limit', 'connections')).to.equal(CONNECTIONS);
    const { status } = await call(server.urls.rooms ?? '', 'POST', '/rooms', { body: {} });
    expect(status).to.equal(400);
    expect(await gauge('annals_budget_used', 'requests')).to.equal(0);
  });
});
