/** Sending a batch to a service that first refuses it. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type SendOptions, send } from '../../../bin/commands/logs/import.js';

describe('sending a batch', () => {
  let server: Server;
  let statuses: (readonly [status: number, headers?: { [name: string]: string }])[];
  let waited: number[];

  beforeEach(async () => {
    [statuses, waited] = [[], []];
    server = createServer((request, response) => {
      const [status, headers = {}] = statuses.shift() ?? [200];
      request.resume().on('end', () => {
        response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
        response.end(JSON.stringify(status < 300 ? { accepted: 1, rejected: 0, errors: [] } : { error: 'no' }));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    server.close();
    await once(server, 'close');
  });

  const sent = (more: Partial<SendOptions> = {}) => {
    const { port } = server.address() as AddressInfo;
    return send({ url: `http://127.0.0.1:${port}`, headers: { connection: 'close' } } as never, Buffer.from('{}\n'), {
      key: 'one',
      timeoutMs: 60_000,
      stop: new AbortController().signal,
      onRetry: () => {},
      pause: async (ms) => void waited.push(ms),
      ...more,
    });
  };

  it('honours Retry-After, and backs off without it', async () => {
    statuses = [[429, { 'Retry-After': '7' }], [503], [500]];
    expect(await sent()).to.include({ accepted: 1 });
    const [requests, second = 0, third = 0] = waited;
    expect(requests).to.equal(7000);
    expect(second).to.be.within(200, 600);
    expect(third).to.be.within(400, 1200);
  });

  it('gives up at once when Retry-After exceeds its patience', async () => {
    statuses = [[429, { 'Retry-After': '61' }]];
    expect(await sent().catch((error: Error) => error.name)).not.to.include({ accepted: 1 });
    expect(waited).to.deep.equal([]);
  });

  it('gives up at once when a retry would get the same answer', async () => {
    for (const status of [400, 401, 404, 413]) {
      statuses = [[status]];
      const failed = await sent().catch((error: Error) => error);
      expect(failed, String(status)).to.be.instanceOf(Error);
    }
    expect(waited).to.deep.equal([]);
  });
});
