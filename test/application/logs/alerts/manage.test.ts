/** Alerting over HTTP and both stores: one alert for all nodes, its history, and delivery that survives crashes. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '@annals/engines/testing/children.js';
import { expect } from 'chai';
import { asEvent } from '../../../../application/command/event-envelope.js';
import { alertHistory } from '../../../../projections/logs/alerts.js';
import { answer, type Respond } from '../../../support/webhook-receiver.js';
import { useAlerting } from './alert-node.js';

describe('alerting', function () {
  this.timeout(120_000);
  const alerting = useAlerting();
  const { start, put, history, projectionProgress, on } = alerting;

  it('raises an alert as soon as the policy is set, and delivers it signed', async () => {
    const node = await start({ secret: 'between us' });
    alerting.now.errors = 25;
    await put(node, on());
    await alerting.receiver.waitForRequests(1);
    const [{ headers, body: text } = { headers: {}, body: '' }] = alerting.receiver.received;
    const { triggeredAt, alertId, ...sent } = JSON.parse(text);
    expect(sent).to.deep.equal({
      source: 'annals-logs',
      rule: 'error_threshold',
      severity: 'critical',
      serviceUrl: 'http://logs.example',
      details: { errorCount: 25, threshold: 20, windowMinutes: 5 },
    });
    expect(triggeredAt).to.match(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/);
    expect(headers)
      .to.have.property('x-annals-signature')
      .that.matches(/^t=\d+,v1=[0-9a-f]{64}$/);
    const { alerts } = await projectionProgress(node, (page) => page.alerts[0]?.webhook.delivered);
    expect(alerts).to.have.length(1);
    expect(alerts[0]).to.deep.include({ id: alertId, rule: 'error_threshold', state: 'active', triggeredAt });
    expect(alerts[0]?.webhook).to.include({ delivered: true, attempts: 1, status: 204 });
  });

  it('raises one alert for concurrent evaluations on many nodes, and after restarts', async () => {
    const [one, other] = [await start(), await start()];
    await put(one, on());
    alerting.now.errors = 25;
    await Promise.all([one, other, one, other].map((node) => node.evaluate()));
    await Promise.all(alerting.nodes.splice(0).map((node) => node.stop()));
    const third = await start();
    await third.evaluate();
    const { alerts } = await projectionProgress(third, (page) => page.alerts[0]?.webhook.delivered);
    expect(alerts).to.have.length(1);
    expect(alerting.receiver.received).to.have.length(1);
  });

  it('evaluates at the configured interval', async () => {
    const node = await start();
    await put(node, { ...on(), intervalMs: 1000 });
    alerting.now.errors = 25;
    await alerting.receiver.waitForRequests(1);
    alerting.now.errors = 0;
    const { alerts } = await projectionProgress(node, (page) => page.alerts[0]?.state === 'resolved');
    expect(alerts[0]).to.include({ resolution: 'recovered' });
    expect(Date.parse(alerts[0]?.resolvedAt ?? '')).to.be.greaterThan(Date.parse(alerts[0]?.triggeredAt ?? ''));
  });

  it('applies a policy changed on another node', async () => {
    const leader = await start();
    await leader.evaluate();
    const other = await start();
    await put(other, { ...on(), intervalMs: 1000 });
    alerting.now.errors = 25;
    await alerting.receiver.waitForRequests(1);
  });

  it('raises no_logs after silence, and resolves it when the rule is disabled', async () => {
    const node = await start();
    alerting.now.lastRecordAt = Date.now() - 61_000;
    await put(node, { ...on(), noLogsThresholdMinutes: 1 });
    expect((await history(node)).alerts[0]).to.include({
      rule: 'no_logs',
      severity: 'warning',
      state: 'active',
    });
    await put(node, { noLogsThresholdMinutes: 0 });
    expect((await history(node)).alerts[0]).to.include({ state: 'resolved', resolution: 'disabled' });
  });

  it('marks an alert that continues after the cooldown as repeated', async () => {
    const node = await start();
    alerting.now.errors = 25;
    await put(node, { ...on(), cooldownMs: 0 });
    await node.evaluate();
    const { alerts } = await history(node);
    const [latest, before] = alerts;
    expect(latest).to.include({ state: 'active' });
    expect(before).to.include({ state: 'repeated' });
    expect(alerts.map(({ id }) => id)).to.include(before?.repeatedBy);
  });

  it('lists alerts in pages, newest first', async () => {
    const node = await start();
    alerting.now.errors = 25;
    await put(node, { ...on(), cooldownMs: 0 });
    for (let index = 0; index < 4; index++) await node.evaluate();
    const whole = await history(node);
    expect(whole).to.include({ hasMore: false, limit: 100 }).and.not.have.property('nextCursor');
    expect(whole.alerts.length).to.be.at.least(5);
    const ids: string[] = [];
    for (let query = '?limit=2'; query; ) {
      const page = await history(node, query);
      ids.push(...page.alerts.map(({ id }) => id));
      query = page.nextCursor ? `?limit=2&cursor=${encodeURIComponent(page.nextCursor)}` : '';
      expect(page.hasMore).to.equal(query !== '');
    }
    expect(ids).to.deep.equal(whole.alerts.map(({ id }) => id));
    for (const query of ['?cursor=x', '?limit=0', '?limit=x', '?cursor=1.a&cursor=2.b']) {
      expect((await node.ask('GET', `/api/alerts/history${query}`)).status, query).to.equal(400);
    }
    expect((await history(node, '?limit=5000')).limit).to.equal(1000);
  });

  it('has the same history after a rebuild', async () => {
    const node = await start();
    alerting.now.errors = 25;
    await put(node, { ...on(), cooldownMs: 0 });
    for (let index = 0; index < 3; index++) await node.evaluate();
    alerting.now.errors = 0;
    await node.evaluate();
    await projectionProgress(node, ({ alerts }) => alerts.every(({ webhook }) => webhook.delivered));
    const { signal } = new AbortController();
    expect(await node.kernel.lifecycle.check(alertHistory, { signal })).to.deep.equal([]);
  });

  it('records a failed delivery with its reason', async () => {
    const node = await start();
    alerting.now.errors = 25;
    alerting.receiver.respond = answer(500);
    await put(node, { ...on(), webhookRetryAttempts: 1 });
    const { alerts } = await projectionProgress(node, (page) => page.alerts[0]?.webhook.attempts === 2);
    expect(alerts[0]?.webhook).to.include({ delivered: false, attempts: 2, status: 500 });
    expect(alerts[0]?.webhook.reason).to.equal('the receiver answered 500');
  });

  it('delivers again with the same delivery id after a stop during delivery', async () => {
    const first = await start();
    alerting.now.errors = 25;
    alerting.receiver.respond = () => {};
    await put(first, { ...on(), webhookTimeoutMs: 60_000 });
    await alerting.receiver.waitForRequests(1);
    await alerting.nodes.pop()?.stop();
    alerting.receiver.respond = answer(200);
    const second = await start();
    const { alerts } = await projectionProgress(second, (page) => page.alerts[0]?.webhook.delivered);
    expect(alerts).to.have.length(1);
    expect(alerting.receiver.received.map(({ headers }) => headers['x-annals-delivery'])).to.deep.equal([
      alerts[0]?.id,
      alerts[0]?.id,
    ]);
  });

  it('delivers the alert of a node that was killed during delivery', async () => {
    const program = fileURLToPath(new URL('./alert-process.js', import.meta.url));
    const name = randomUUID();
    const child = killOnExit(
      spawn(process.execPath, [program, alerting.servers.eventStoreUrl, alerting.servers.mongoUrl, name]),
    );
    const [url] = await once(child.stdout, 'data');
    alerting.receiver.respond = () => {};
    await fetch(`${String(url).trim()}/api/alerts/config`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...on(), webhookTimeoutMs: 60_000 }),
    });
    await alerting.receiver.waitForRequests(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    alerting.receiver.respond = answer(200);
    const next = await start({ node: name });
    const { alerts } = await projectionProgress(next, (page) => page.alerts[0]?.webhook.delivered);
    expect(alerts).to.have.length(1);
    expect(alerting.receiver.received).to.have.length(2);
  });

  it('does not deliver again when the reaction runs again', async () => {
    const node = await start();
    alerting.now.errors = 25;
    await put(node, on());
    await projectionProgress(node, (page) => page.alerts[0]?.webhook.delivered);
    const events = await node.kernel.log.read('logs.alert-error_threshold');
    const raised = Array.isArray(events) ? events.find(({ type }) => type === 'AlertRaised') : undefined;
    expect(raised).not.to.equal(undefined);
    await node.reaction.on.AlertRaised(asEvent(raised));
    expect(alerting.receiver.received).to.have.length(1);
  });

  it('sends one test webhook per Idempotency-Key', async () => {
    const node = await start();
    const test = (body: object) => node.ask('POST', '/api/alerts/test-webhook', body, { 'Idempotency-Key': 'once' });
    const first = await test({ webhookUrl: alerting.receiver.url });
    expect((await test({ webhookUrl: alerting.receiver.url })).body).to.deep.equal(first.body);
    expect((await test({})).status).to.equal(422);
    expect(alerting.receiver.received).to.have.length(1);
  });

  it('continues the trace of the request in its test webhook', async () => {
    const node = await start();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await node.ask('POST', '/api/alerts/test-webhook', { webhookUrl: alerting.receiver.url }, { traceparent });
    expect(alerting.receiver.received[0]?.headers).to.include({ traceparent });
  });

  it('reports a test webhook as delivered, failed, rejected, or without a URL', async () => {
    const node = await start();
    const test = (body?: unknown) => node.ask('POST', '/api/alerts/test-webhook', body);
    expect((await test({})).status).to.equal(400);
    expect((await test()).status).to.equal(400);
    expect((await test({ webhookUrl: 7 })).status).to.equal(400);
    expect((await test({ webhookUrl: 'http://169.254.169.254/' })).body.error).to.match(/link-local/);
    const delivered = await test({ webhookUrl: alerting.receiver.url });
    expect(delivered.status).to.equal(200);
    expect(delivered.body).to.deep.include({ ok: true, targetUrl: alerting.receiver.url, status: 204 });
    expect(Date.parse(delivered.body.sentAt)).to.be.closeTo(Date.now(), 5000);
    expect(JSON.parse(alerting.receiver.received[0]?.body ?? '')).to.include({
      source: 'annals-logs',
      rule: 'test',
    });
    await put(node, { webhookUrl: alerting.receiver.url, webhookBackoffMs: 1, webhookTimeoutMs: 50 });
    alerting.receiver.respond = answer(500, 500, 500, 500, 500);
    const failed = await test({});
    expect(failed.status).to.equal(502);
    expect(failed.body.error).to.match(/the receiver answered 500/);
    alerting.receiver.respond = () => {};
    expect((await test({})).body.error).to.match(/did not answer within 50 ms/);
  });

  it('answers a test webhook within 10 s, whatever the receiver does', async () => {
    const node = await start();
    const patient = { webhookTimeoutMs: 60_000, webhookRetryAttempts: 10, webhookBackoffMs: 10_000 };
    await put(node, { webhookUrl: alerting.receiver.url, ...patient });
    const tried = async () => {
      const begun = performance.now();
      const { status, body } = await node.ask('POST', '/api/alerts/test-webhook', {});
      expect(performance.now() - begun).to.be.below(10_000);
      return [status, body.error ?? ''];
    };
    const behaviours: Respond[] = [
      () => {},
      (response) => {
        const drip = setInterval(() => response.write('.'), 100);
        response.writeHead(200).on('close', () => clearInterval(drip));
      },
      answer(503),
    ];
    alerting.receiver.respond = (response, count) => behaviours[count - 1]?.(response, 1);
    const outcomes = await Promise.all(behaviours.map(tried));
    expect(outcomes.map(([status]) => status).toSorted()).to.deep.equal([200, 502, 502]);
    const errors = outcomes.map(([, error]) => String(error)).join();
    expect(errors)
      .to.match(/the receiver answered 503/)
      .and.match(/did not answer within \d+ ms/);
  });
});
