/** How many connections there may be, and which of them goes when there are more. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { createConnectionLimit, maxConnections } from '../../../adapters/http/hardening/connection-limits.js';
import { networkOf } from '../../../adapters/http/server/client-address.js';
import { type Budget, createBudget } from '../../../application/concurrency/fair-share-budget.js';
import { serveTalk } from '../../adapters/realtime/websocket/toy-chat.js';
import { echo, serveToys, type Toys } from '../toy-http-service.js';

const PROXY = '127.0.0.9';

describe('connections', () => {
  let toys: Toys;
  let others: Toys;
  const clients: Socket[] = [];
  let begun: number;
  let answer: () => void;
  let connections: Budget;
  beforeEach(async () => {
    connections = createBudget('connections', 3);
    const limit = createConnectionLimit(connections, (address) => (address === PROXY ? undefined : networkOf(address)));
    begun = 0;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const handle = async () => {
      begun++;
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

  /** From another address of the loopback network, or the usual one. */
  const come = async ({ port }: Toys, localAddress = '127.0.0.1') => {
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
  /** Told why, and closed. */
  const refused = async (client: Socket, status: number) => {
    let told = '';
    client.on('data', (bytes) => {
      told += bytes;
    });
    client.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(client, 'close');
    expect(told).to.match(new RegExp(`^HTTP/1.1 ${status} `));
    expect(told).to.match(/^retry-after: \d+$/im);
    expect(told).to.match(/^connection: close$/im);
  };
  const closed = (client: Socket) => (client.destroyed ? undefined : once(client, 'close'));

  it('that are too many, of all ports together, cost the one that has been idle longest', async () => {
    const first = await come(others);
    await ask(first, '/toys');
    // Of one port they are taken in the order in which they came.
    const silent = await come(toys);
    const later = await come(toys);
    await ask(first, '/toys');
    const last = await come(toys);
    await closed(silent);
    for (const client of [first, later, last]) await ask(client, '/toys');
    await come(toys);
    await closed(first);
    for (const client of [later, last]) await ask(client, '/toys');
  });

  it('that come when there is nothing else left cost their own network one that is idle', async () => {
    const others = [await come(toys, '127.0.0.2'), await come(toys, '127.0.0.2')];
    const own = await come(toys);
    await ask(own, '/toys');
    const later = await come(toys);
    await closed(own);
    for (const client of [...others, later]) await ask(client, '/toys');
    await come(toys, '127.0.0.3');
    await closed(others[0]!);
    for (const client of [others[1]!, later]) await ask(client, '/toys');
  });

  it('that wait for an answer are kept: the new one is told, and when one has left there is budget again', async () => {
    const held = [await come(toys), await come(others, '127.0.0.2'), await come(toys, '127.0.0.3')];
    const waiting = held.map((client) => ask(client, '/slow'));
    while (begun < held.length) await new Promise(setImmediate);
    const silent = await come(toys, '127.0.0.4');
    const newcomer = await come(toys, '127.0.0.4');
    await closed(silent);
    await refused(newcomer, 503);
    answer();
    await Promise.all(waiting);
    held[1]!.destroy();
    await others.close();
    await ask(await come(toys, '127.0.0.4'), '/toys');
    for (const client of [held[0]!, held[2]!]) await ask(client, '/toys');
  });

  it('that wait for an answer are of no network all there may be', async () => {
    const held = [await come(toys), await come(toys), await come(toys)];
    const waiting = held.slice(0, 2).map((client) => ask(client, '/slow'));
    while (begun < waiting.length) await new Promise(setImmediate);
    await refused(held[2]!, 429);
    await ask(await come(toys, '127.0.0.2'), '/toys');
    answer();
    await Promise.all(waiting);
    await ask(await come(toys), '/toys');
  });

  it('that would change their protocol are told the same', async () => {
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

  it('of a proxy, which are of many callers, are all there may be', async () => {
    const held = [await come(toys, PROXY), await come(toys, PROXY), await come(toys, PROXY)];
    const waiting = held.map((client) => ask(client, '/slow'));
    while (begun < waiting.length) await new Promise(setImmediate);
    await refused(await come(toys), 503);
    answer();
    await Promise.all(waiting);
  });

  it('that ask for more at once are waiting until the last of it is answered', async () => {
    const client = await come(toys);
    client.write('GET /toys HTTP/1.1\r\nHost: x\r\n\r\nGET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    while (begun < 1) await new Promise(setImmediate);
    const silent = [await come(toys), await come(toys)];
    await come(toys);
    await closed(silent[0]!);
    let got = '';
    client.on('data', (bytes) => {
      got += bytes;
    });
    answer();
    while (!got.includes(' 202 ')) {
      expect(client.destroyed).to.equal(false);
      await new Promise(setImmediate);
    }
  });

  it('leave the process the files it opens itself, within what the system allows it', () => {
    const limits = (files: string) => `Max processes  1000  1000  processes\nMax open files   ${files}   9  files\n`;
    expect(maxConnections(10_000, limits('2000'))).to.equal(2000 - 256);
    expect(maxConnections(10_000, limits('400'))).to.equal(200);
    expect(maxConnections(10_000, limits('unlimited'))).to.equal(10_000);
    expect(maxConnections(10_000, '')).to.equal(10_000);
    expect(maxConnections(10_000)).to.be.greaterThan(100);
  });
});
