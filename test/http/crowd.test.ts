/** How many connections there may be, and which of them goes when there are more. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { createCrowd, mostConnections } from '../../adapters/http/crowd.js';
import { echo, serveToys, type Toys } from './toy.js';

describe('connections', () => {
  let toys: Toys;
  let others: Toys;
  const clients: Socket[] = [];
  let begun: number;
  let answer: () => void;
  beforeEach(async () => {
    const crowd = createCrowd(3);
    begun = 0;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const handle = async () => {
      begun++;
      await answered;
      return { status: 200 };
    };
    const routes = [echo({ method: 'GET', path: '/toys' }), echo({ method: 'GET', path: '/slow', handle })];
    [toys, others] = [await serveToys(routes, {}, { crowd }), await serveToys(routes, {}, { crowd })];
  });
  afterEach(async () => {
    answer();
    for (const client of clients.splice(0)) client.destroy();
    await toys.close();
    await others.close();
  });

  const come = async ({ port }: Toys) => {
    const client = connect(port, '127.0.0.1').on('error', () => {});
    clients.push(client);
    await once(client, 'connect');
    return client;
  };
  const ask = async (client: Socket, path: string) => {
    client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const [answer] = await once(client, 'data');
    expect(String(answer)).to.match(/^HTTP\/1\.1 20[04] /);
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

  it('that wait for an answer are kept: the new one goes, and when one has left there is room again', async () => {
    const held = [await come(toys), await come(others), await come(toys)];
    const waiting = held.map((client) => ask(client, '/slow'));
    while (begun < held.length) await new Promise(setImmediate);
    await closed(await come(toys));
    answer();
    await Promise.all(waiting);
    held[1]!.destroy();
    await others.close();
    await ask(await come(toys), '/toys');
    for (const client of [held[0]!, held[2]!]) await ask(client, '/toys');
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
    while (!got.includes(' 204 ')) {
      expect(client.destroyed).to.equal(false);
      await new Promise(setImmediate);
    }
  });

  it('leave the process the files it opens itself, within what the system allows it', () => {
    const limits = (files: string) =>
      `Max processes  1000  1000  processes\nMax open files   ${files}   9  files\n`;
    expect(mostConnections(limits('20000'))).to.equal(20_000 - 256);
    expect(mostConnections(limits('400'))).to.equal(200);
    expect(mostConnections(limits('unlimited'))).to.equal(Number.POSITIVE_INFINITY);
    expect(mostConnections('')).to.equal(Number.POSITIVE_INFINITY);
    expect(mostConnections()).to.be.greaterThan(100);
  });
});
