/** The log service for its users: alerts, documents and the command line, across crashes of the whole program. */
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { parse } from 'yaml';
import { freePort, run, type Server, start, startServer } from '../support/server-process.js';
import { answer, type Receiver, startReceiver } from '../support/webhook-receiver.js';

const TOKEN = 'a-token-for-people';
const PRODUCER = 'a-token-for-the-shop';
const SECRET = 'between the two of us';

interface OpenApi {
  readonly paths: {
    readonly [path: string]: {
      readonly [method: string]: {
        readonly security?: readonly object[];
        readonly requestBody?: { readonly content: object };
        readonly parameters?: readonly { readonly name?: string; readonly description?: string }[];
      };
    };
  };
}

interface History {
  readonly alerts: readonly { readonly rule: string; readonly webhook: { readonly delivered: boolean } }[];
}

describe('the log service', function () {
  this.timeout(120_000);
  let directory: ReturnType<typeof temporaryDirectory>;
  let receiver: Receiver;
  let server: Server;
  let url: string;
  let flags: readonly string[];

  const restart = async () => {
    server = await startServer(join(directory.path, 'data'), flags);
    url = server.urls.logs ?? '';
  };
  const ask = (method: string, path: string, body?: object) =>
    fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const logs = (args: readonly string[], input?: string, token = TOKEN) =>
    run(['logs', ...args, '--url', url, '--token', token], input, { cwd: directory.path });
  const lines = (count: number, more: object) =>
    Array.from({ length: count }, (_, n) => `${JSON.stringify({ n, ...more })}\n`).join('');
  const delivered = () =>
    eventually(async () => {
      const { alerts } = (await (await ask('GET', '/api/alerts/history')).json()) as History;
      return alerts.length > 0 && alerts.every(({ webhook }) => webhook.delivered) && alerts;
    });

  const open = async (port = '') => {
    directory = temporaryDirectory();
    receiver = await startReceiver();
    flags = [
      'logs',
      '--logs-port',
      port || (await freePort()),
      '--logs-api-token',
      TOKEN,
      '--logs-webhook-secret',
      SECRET,
    ].concat('--logs-producers', JSON.stringify([{ id: 'shop', token: PRODUCER }]));
    await restart();
  };
  const close = async () => {
    await server?.stop();
    await receiver.close();
    directory.remove();
  };

  describe('while running', () => {
    before(() => open('0'));
    after(close);

    it('imports a file of a producer exactly once, however often, and answers queries about it', async () => {
      writeFileSync(
        join(directory.path, 'shop.ndjson'),
        lines(2500, { level: 'warn', message: 'low stock', sku: 'a1' }),
      );
      const imported = { code: 0, stdout: '', stderr: 'annals: 2,500 records imported\n' };
      expect(await logs(['import', 'shop.ndjson'], '', PRODUCER)).to.deep.equal(imported);
      expect(await logs(['import', 'shop.ndjson'], '', PRODUCER)).to.deep.equal(imported);
      expect((await logs(['aggregate', 'low', 'stock', '--field', 'sku=a1'])).stdout).to.equal(
        '{"key":"WARN","count":2500}\n',
      );
      const { stdout } = await logs(['query', '--all', '--producer', 'shop']);
      const numbers = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).data.n);
      expect(new Set(numbers).size).to.equal(2500);
      expect((await logs(['query'], '', PRODUCER)).code).to.equal(1);
      expect((await logs(['import', '-'], '{}\n', 'a-wrong-token')).stderr).to.match(/\(401\)/);
    });

    it('refuses alert changes without permission', async () => {
      for (const [method, path] of [
        ['GET', '/api/alerts/config'],
        ['PUT', '/api/alerts/config'],
        ['GET', '/api/alerts/history'],
        ['POST', '/api/alerts/test-webhook'],
      ] as const) {
        const refused = await fetch(`${url}${path}`, { method });
        expect(refused.status, path).to.equal(401);
        expect(refused.headers.get('www-authenticate')).to.match(/Bearer.*Basic/);
        const producer = await fetch(`${url}${path}`, {
          method,
          headers: { Authorization: `Bearer ${PRODUCER}` },
        });
        expect(producer.status, path).to.equal(403);
      }
    });

    it('shows alerts in /health without secrets', async () => {
      await ask('PUT', '/api/alerts/config', { enabled: true, webhookUrl: receiver.url });
      const health = await (await fetch(`${url}/health`)).text();
      expect(health).not.to.include(receiver.url).and.not.include(SECRET).and.not.include(TOKEN);
      expect(JSON.parse(health)).to.deep.include({ alerting: { enabled: true, active: [], undelivered: 0 } });
      expect(JSON.parse(health).alertPolicy).to.include({ webhookUrl: '[configured]', windowMinutes: 5 });
    });

    it('includes its own address in alert deliveries, on any port', async () => {
      await ask('PUT', '/api/alerts/config', { enabled: true, webhookUrl: receiver.url });
      expect((await ask('POST', '/api/alerts/test-webhook')).status).to.equal(200);
      expect(JSON.parse(receiver.received.at(-1)!.body)).to.include({ serviceUrl: url });
    });

    it('documents every route in JSON and YAML, with both sign-in schemes', async () => {
      const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;
      const { valid, errors } = await new Validator().validate(structuredClone({ ...document }));
      expect(errors ?? []).to.deep.equal([]);
      expect(valid).to.equal(true);
      expect(parse(await (await fetch(`${url}/openapi.yaml`)).text())).to.deep.equal(document);
      const { paths } = document as {
        paths: { [path: string]: { [method: string]: { security?: object[] } } };
      };
      const operations = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { security }]) => ({ name: `${method} ${path}`, security })),
      );
      expect(operations.map(({ name }) => name)).to.include.members([
        'get /health',
        'get /openapi.json',
        'get /openapi.yaml',
        'get /docs',
        'post /api/ingest',
        'get /api/logs',
        'get /api/logs/aggregate',
        'get /api/alerts/config',
        'put /api/alerts/config',
        'post /api/alerts/test-webhook',
        'post /api/reindex',
      ]);
      for (const { name, security } of operations) {
        const both = name.includes(' /api/') ? [{ token: [] }, { basic: [] }] : undefined;
        expect(security, name).to.deep.equal(both);
      }
      const ingest = document.paths['/api/ingest']?.post;
      const types = Object.keys(ingest?.requestBody?.content ?? {});
      expect(types).to.deep.equal(['application/x-ndjson', 'application/json', 'text/plain']);
      const list = document.paths['/api/logs']?.get;
      const limit = list?.parameters?.find(({ name }) => name === 'limit');
      expect(limit?.description).to.equal('Values above 1000 are reduced to 1000');
      expect((await fetch(`${url}/docs`)).status).to.equal(200);
    });
  });

  describe('killed and restarted', () => {
    before(open);
    after(close);

    it('resumes the live tail after a crash of the whole program', async () => {
      const tail = start(['logs', 'tail', 'order', '-n', '1', '--url', url, '--token', TOKEN], {
        cwd: directory.path,
      });
      await logs(['import', '-'], lines(1, { message: 'order one' }));
      await tail.printed(/order one/);
      await server.stop('SIGKILL');
      await restart();
      await logs(['import', '-'], lines(1, { message: 'order two' }));
      await tail.printed(/order two/);
      tail.process.kill('SIGINT');
      const { stdout } = await tail.ended;
      expect(stdout.trim().split('\n')).to.have.length(2);
    });

    it('raises one signed alert for errors and delivers it despite kills during delivery', async () => {
      receiver.respond = () => {};
      await ask('PUT', '/api/alerts/config', {
        enabled: true,
        webhookUrl: receiver.url,
        intervalMs: 1000,
        webhookTimeoutMs: 60_000,
      });
      await logs(['import', '-'], lines(19, { level: 'error', message: 'declined' }));
      await logs(['import', '-'], lines(1, { level: 60, msg: 'out of memory' }), PRODUCER);
      await receiver.waitForRequests(1);
      await server.stop('SIGKILL');
      receiver.respond = answer(500, 500, 200);
      await restart();
      const alerts = await delivered();
      expect(alerts.map(({ rule }) => rule)).to.deep.equal(['error_threshold']);
      const { body, headers } = receiver.received.at(-1)!;
      expect(JSON.parse(body)).to.deep.include({
        source: 'annals-logs',
        rule: 'error_threshold',
        serviceUrl: url,
        details: { errorCount: 20, threshold: 20, windowMinutes: 5 },
      });
      const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-annals-signature'])) ?? [];
      expect(v1).to.equal(createHmac('sha256', SECRET).update(`${t}.${body}`).digest('hex'));
      expect(new Set(receiver.received.map((each) => each.headers['x-annals-delivery'])).size).to.equal(1);
    });
  });
});
