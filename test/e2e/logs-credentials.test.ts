/** The log service with credentials: who has access, as which producer, and to what. */
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Page } from '../../application/logs/query/render-page.js';
import { type LogClient, logClient } from '../support/log-client.js';
import { type Server, startServer } from '../support/server-process.js';

describe('the log service with credentials', () => {
  const directory = temporaryDirectory();
  let server: Server;
  let client: LogClient;

  before(async () => {
    server = await startServer(directory.path, ['logs', '--logs-api-token', 'a-long-enough-token'], {
      ANNALS_LOGS_BASIC_USERNAME: 'ops',
      ANNALS_LOGS_BASIC_PASSWORD: 'secret',
      ANNALS_LOGS_PRODUCERS: JSON.stringify([{ id: 'shop', token: 'token-of-the-shop' }]),
    });
    client = logClient(server.urls.logs ?? '');
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const basic = (name: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
  });

  it('refuses requests without credentials', async () => {
    const routes = [
      ['POST', '/api/ingest'],
      ['GET', '/api/logs'],
      ['GET', '/api/logs/aggregate?groupBy=level'],
      ['GET', '/api/logs/tail'],
      ['POST', '/api/reindex'],
      ['GET', '/api/reindex'],
    ];
    for (const [method = '', path = ''] of routes) {
      for (const headers of [{}, bearer('wrong'), basic('ops', 'wrong'), basic('other', 'secret')]) {
        const { status, headers: given } = await client.ask(method, path, { headers });
        expect([status, !!given.get('www-authenticate')], `${method} ${path}`).to.deep.equal([401, true]);
      }
    }
    expect((await client.ask('GET', '/health')).status).to.equal(200);
    expect((await client.ask('GET', '/openapi.json')).status).to.equal(200);
  });

  it('derives the producer from the credentials, whatever the records say', async () => {
    const record = [{ producerId: 'forged', producer: 'forged' }];
    const producers = [];
    for (const headers of [bearer('a-long-enough-token'), basic('ops', 'secret'), bearer('token-of-the-shop')])
      producers.push((await client.ingest(record, headers)).body.producerId);
    expect(producers).to.deep.equal(['default', 'ops', 'shop']);
    const { body } = await client.ask<Page>('GET', '/api/logs?producer=shop', {
      headers: basic('ops', 'secret'),
    });
    expect(body.entries.map(({ producerId }) => producerId)).to.deep.equal(['shop']);
  });

  it('allows producers to ingest only', async () => {
    const { status } = await client.ask('GET', '/api/logs', { headers: bearer('token-of-the-shop') });
    expect(status).to.equal(403);
  });

  it('shows no secret in /health', async () => {
    const { body } = await client.ask<object>('GET', '/health');
    expect(JSON.stringify(body)).to.not.match(/a-long-enough-token|secret|token-of-the-shop/);
  });
});
