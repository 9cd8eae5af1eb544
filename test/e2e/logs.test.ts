/** The log service over HTTP, in one program, since a start takes seconds. */
import { randomUUID } from 'node:crypto';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { type LogClient, logClient } from '../support/log-client.js';
import { type Server, startServer } from '../support/server-process.js';
import { takesIn } from './logs/ingest-suite.js';
import { answers } from './logs/query-suite.js';
import { rebuilds } from './logs/rebuild-suite.js';
import { logsUnderTest } from './logs/shared-service.js';
import { follows } from './logs/tail-suite.js';

describe('the log service', () => {
  const directory = temporaryDirectory();
  let server: Server;
  let base: string;
  let client: LogClient;
  let run: string;

  before(async () => {
    server = await startServer(directory.path, ['logs']);
    base = server.urls.logs ?? '';
    client = logClient(base);
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });
  beforeEach(() => {
    run = randomUUID().slice(0, 8);
  });

  const logs = logsUnderTest(directory.path, () => ({ server, base, client, run }));
  takesIn(logs);
  answers(logs);
  follows(logs);
  rebuilds(logs);

  it('reports health to everyone', async () => {
    const { status, body } = await client.ask<{ [section: string]: unknown }>('GET', '/health');
    expect(status).to.equal(200);
    expect(body).to.include.keys(
      'ok',
      'service',
      'version',
      'uptimeSec',
      'runtime',
      'storage',
      'ingest',
      'auth',
      'index',
    );
    expect([body.ok, body.service]).to.deep.equal([true, 'logs']);
    expect(body.index).to.include.keys('lag', 'position');
  });

  it('documents its routes', async () => {
    const { body } = await client.ask<{ openapi: string; paths: object }>('GET', '/openapi.json');
    expect(body.openapi).to.match(/^3\.1/);
    expect(body.paths).to.include.keys('/health', '/api/ingest', '/api/logs', '/api/logs/aggregate', '/api/reindex');
  });
});
