/** Limits on the number of connections, and which of them are closed for new ones. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { createConnectionLimit, maxConnections } from '../../../adapters/http/hardening/connection-limits.js';
import { networkOf } from '../../../adapters/http/server/client-network.js';
import { type Budget, createBudget } from '../../../application/concurrency/limiters.js';
import { serveTalk } from '../../adapters/realtime/websocket/toy-chat.js';
import { echo, serveToys, type Toys } from '../toy-http-service.js';

const PROXY = '127.0.0.9';

describe('connection limits', () => {
  let toys: Toys;
  let others: Toys;
  const clients: Socket[] = [];
  let started: number;
  let answer: () => void;
  let connections: Budget;
  beforeEach(async () => {
    connections = createBudget('connections', 3);
    const limit = createConnectionLimit(connections, (address) => (address === PROXY ? undefined : networkOf(address)));
    started = 0;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const handle = async () => {
      started++;
      await answered;
      return { status: 202 };
    };
    const routes = [echo({ method: 'GET', path: '/toys' }), echo({ method: 'GET', path: '/slow', handle })];
    [toys, others] = [
      await serveToys(routes, {}, { connections: limit }),
      await serveToys(routes, {}, { connections: limit }),
    ];
  });
  afterEach(async () => {
    answer();
    for (const client of clients.splice(0)) client.destroy();
    await toys.close();
    await others.close();
  });

  /** Connects from a loopback address, by default the usual one. */
  const dial = async ({ port }: Toys, localAddress = '127.0.0.1') => {
    const client = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
    clients.push(client);
    await once(client, 'connect');
    return client;
  };
  const ask = async (client: Socket, path: string) => {
    client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const [answer] = await once(client, 'data');
    expect(String(answer)).to.match(/^HTTP\/1\.1 20[02] /);
  };
  /** Expects an answer with this status, and the connection closed. */
  const expectRefused = async (client: Socket, status: number) => {
    let received = '';
    client.on('data', (bytes) => {
      received += bytes;
    });
    client.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(client, 'close');
    expect(received).to.match(new RegExp(`^HTTP/1.1 ${status} `));
    expect(received).to.match(/^retry-after: \d+$/im);
    expect(received).to.match(/^connection: close$/im);
  };
  const closed = (client: Socket) => (client.destroyed ? undefined : once(client, 'close'));

  it('close the connection that has been idle longest, across all ports', async () => {
    const first = await dial(others);
    await ask(first, '/toys');
    // Connections of one port are accepted in order.
    const silent = await dial(toys);
    const later = await dial(toys);
    await ask(first, '/toys');
    const last = await dial(toys);
    await closed(silent);
    for (const client of [first, later, last]) await ask(client, '/toys');
    await dial(toys);
    await closed(first);
    for (const client of [later, last]) await ask(client, '/toys');
  });

  it('close an idle connection of the same network when others are at work', async () => {
    const others = [await dial(toys, '127.0.0.2'), await dial(toys, '127.0.0.2')];
    const own = await dial(toys);
    await ask(own, '/toys');
    const later = await dial(toys);
    await closed(own);
    for (const client of [...others, later]) await ask(client, '/toys');
    await dial(toys, '127.0.0.3');
    await closed(others[0]!);
    for (const client of [others[1]!, later]) await ask(client, '/toys');
  });

  it('keep connections that wait for an answer; a new one gets 503 until one is closed', async () => {
    const held = [await dial(toys), await dial(others, '127.0.0.2'), await dial(toys, '127.0.0.3')];
    const waiting = held.map((client) => ask(client, '/slow'));
    while (started < held.length) await new Promise(setImmediate);
    const silent = await dial(toys, '127.0.0.4');
    const excess = await dial(toys, '127.0.0.4');
    await closed(silent);
    await expectRefused(excess, 503);
    answer();
    await Promise.all(waiting);
    held[1]!.destroy();
    await others.close();
    await ask(await dial(toys, '127.0.0.4'), '/toys');
    for (const client of [held[0]!, held[2]!]) await ask(client, '/toys');
  });

  it('leave part of the budget to other networks, with 429 for the excess', async () => {
    const held = [await dial(toys), await dial(toys), await dial(toys)];
    const waiting = held.slice(0, 2).map((client) => ask(client, '/slow'));
    while (started < waiting.length) await new Promise(setImmediate);
    await expectRefused(held[2]!, 429);
    await ask(await dial(toys, '127.0.0.2'), '/toys');
    answer();
    await Promise.all(waiting);
    await ask(await dial(toys), '/toys');
  });

  it('apply to WebSocket upgrades', async () => {
    const connections = createBudget('connections', 3);
    const talk = await serveTalk({ connections: createConnectionLimit(connections, networkOf) });
    for (let nth = 0; nth < 2; nth++) await talk.open();
    const third = new WebSocket(`${talk.url.replace('http', 'ws')}/talk/a`).on('error', () => {});
    const [, { statusCode, headers }] = await once(third, 'unexpected-response');
    expect([statusCode, headers['retry-after']]).to.deep.equal([429, '1']);
    third.terminate();
    expect(talk.speakers).to.have.length(2);
    for (const { sink } of talk.speakers) sink.cut();
    await eventually(() => connections.used() === 0);
    await talk.close();
  });

  it('allow a proxy to use the whole budget', async () => {
    const held = [await dial(toys, PROXY), await dial(toys, PROXY), await dial(toys, PROXY)];
    const waiting = held.map((client) => ask(client, '/slow'));
    while (started < waiting.length) await new Promise(setImmediate);
    await expectRefused(await dial(toys), 503);
    answer();
    await Promise.all(waiting);
  });

  it('treat a pipelined connection as busy until its last answer', async () => {
    const client = await dial(toys);
    client.write('GET /toys HTTP/1.1\r\nHost: x\r\n\r\nGET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    while (started < 1) await new Promise(setImmediate);
    const silent = [await dial(toys), await dial(toys)];
    await dial(toys);
    await closed(silent[0]!);
    let received = '';
    client.on('data', (bytes) => {
      received += bytes;
    });
    answer();
    while (!received.includes(' 202 ')) {
      expect(client.destroyed).to.equal(false);
      await new Promise(setImmediate);
    }
  });

  it('leave the process files of its own, within the limits of the system', () => {
    const limits = (files: string) => `Max processes  1000  1000  processes\nMax open files   ${files}   9  files\n`;
    expect(maxConnections(10_000, limits('2000'))).to.equal(2000 - 256);
    expect(maxConnections(10_000, limits('400'))).to.equal(200);
    expect(maxConnections(10_000, limits('unlimited'))).to.equal(10_000);
    expect(maxConnections(10_000, '')).to.equal(10_000);
    expect(maxConnections(10_000)).to.be.greaterThan(100);
  });
});
