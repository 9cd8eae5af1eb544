/** The log service under requests that try to exhaust its memory, in a process with a small heap. */
import { gzipSync } from 'node:zlib';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { type LogClient, logClient } from '../support/log-client.js';
import { type Server, startServer } from '../support/server-process.js';

const MIB = 1024 * 1024;
const gzip = { 'content-encoding': 'gzip' };

describe('the log service with little memory', () => {
  const directory = temporaryDirectory();
  let server: Server;
  let client: LogClient;

  before(async () => {
    server = await startServer(directory.path, ['logs'], { NODE_OPTIONS: '--max-old-space-size=256' });
    client = logClient(server.urls.logs ?? '');
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  const send = (body: Uint8Array | string, headers = {}) =>
    client.ask<{ error?: string; accepted?: number }>('POST', '/api/ingest', { body, headers });
  const statuses = async (count: number, body: Uint8Array, headers = {}) =>
    (await Promise.all(Array.from({ length: count }, () => send(body, headers)))).map(({ status }) => status);
  const serves = async (message: string) => {
    await client.ingest([{ message }]);
    expect((await client.page(`event=${message}`)).entries).to.have.length(1);
    expect(server.child.exitCode).to.equal(null);
  };

  it('refuses millions of records in a few bytes', async () => {
    const records = 2_700_000;
    const forms = [
      '{}\n'.repeat(records),
      `[${'{},'.repeat(records)}{}]`,
      `{"logs":[${'{},'.repeat(records)}{}]}`,
      `${'{},'.repeat(records)}`,
    ];
    for (const form of forms) {
      const packed = gzipSync(form);
      expect(packed.length).to.be.lessThan(40_000);
      for (const status of new Set(await statuses(25, packed, gzip))) expect(status).to.be.oneOf([200, 413, 429]);
      const { status, headers } = await send(packed, gzip);
      expect([status, headers.get('content-type')]).to.deep.equal([
        form.startsWith('{},') ? 200 : 413,
        'application/json; charset=utf-8',
      ]);
    }
    await serves('bombs');
  }).timeout(120_000);

  it('accepts 50,000 records per request and not one more', async () => {
    const of = (count: number) => `${'{"a":1}\n'.repeat(count)}`;
    expect((await send(of(50_000))).body.accepted).to.equal(50_000);
    const { status, body } = await send(of(50_001));
    expect(status).to.equal(413);
    expect(body.error).to.match(/50,000/);
  }).timeout(120_000);

  it('accepts a body of exactly 8 MiB decompressed, and none that is one byte longer', async () => {
    const filled = (bytes: number) => '{"a":1}\n'.padEnd(bytes, '\n');
    expect((await send(gzipSync(filled(8 * MIB)), gzip)).body.accepted).to.equal(1);
    expect((await send(gzipSync(filled(8 * MIB + 1)), gzip)).status).to.equal(413);
  });

  it('counts decompressed bytes while decompressing', async () => {
    const record = JSON.stringify({ text: 'x'.repeat(60_000) });
    const packed = gzipSync(`${record}\n`.repeat(135));
    expect(packed.length).to.be.lessThan(40_000);
    const done = await Promise.all(Array.from({ length: 40 }, () => send(packed, gzip)));
    const refused = done.filter(({ status }) => status === 429);
    expect(refused.length).to.be.greaterThan(0);
    for (const { headers, body } of refused) {
      expect(Number(headers.get('retry-after'))).to.be.at.least(1);
      expect(body.error).to.be.a('string');
    }
    const taken = done.filter(({ status }) => status === 200);
    expect(taken.length).to.be.greaterThan(0);
    expect(taken.length + refused.length).to.equal(done.length);
    for (const { body } of taken) expect(body.accepted).to.equal(135);
    // The whole budget is released afterwards.
    expect((await send(packed, gzip)).status).to.equal(200);
    const { body } = await client.ask<{ ingest: { waitingBytes: number } }>('GET', '/health');
    expect(body.ingest.waitingBytes).to.equal(0);
    await serves('large');
  }).timeout(120_000);
});
