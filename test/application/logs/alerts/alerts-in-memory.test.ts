/** Alerting over a log in memory: evaluation, webhook delivery and the alert policy. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { asEvent } from '../../../../application/command/event-envelope.js';
import { createAlerts } from '../../../../application/logs/alerts/manage.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import { ALERT_POLICY_STREAM } from '../../../../domain/logs/alert-events.js';
import type { Rejection } from '../../../../domain/shared/decider.js';
import { taken } from '../../../support/memory-ingest.js';
import { memoryWorld } from '../../../support/memory-kernel.js';
import { context } from '../../../support/toy-service.js';
import { memoryAlerts as fixture, NOON } from './memory-alerts.js';

const MINUTE = 60_000;
const URL = 'https://hooks.example.com/T0/secret';

describe('in memory, alerting', () => {
  it('evaluates nothing while it is disabled', async () => {
    const { it, evaluate, types } = fixture();
    it.errors = 1000;
    await evaluate();
    expect(await types('error_threshold')).to.deep.equal([]);
    expect([it.windows, it.calls]).to.deep.equal([[], 0]);
  });

  it('counts errors in the window, and looks up the last record only if the no-logs rule is on', async () => {
    const { it, set, read, types, evaluate } = fixture();
    it.errors = 7;
    const changed = await set({ enabled: true, webhookUrl: URL, errorThreshold: 7, windowMinutes: 2 });
    expect(changed.policy).to.include({ enabled: true, errorThreshold: 7 });
    expect(it.windows).to.deep.equal([[NOON - 2 * MINUTE, NOON]]);
    expect(it.calls).to.equal(0);
    const [raised] = await read('error_threshold');
    expect(raised!.data).to.deep.include({ rule: 'error_threshold', raisedAt: NOON, severity: 'critical' });
    expect(raised!.data.details).to.deep.equal({ errorCount: 7, threshold: 7, windowMinutes: 2 });
    expect(await types('no_logs')).to.deep.equal([]);
    it.lastRecordAt = NOON - MINUTE + 1;
    await set({ noLogsThresholdMinutes: 1 });
    expect(it.calls).to.equal(1);
    expect(await types('no_logs')).to.deep.equal([]);
    it.now++;
    await evaluate();
    expect(await types('no_logs')).to.deep.equal(['AlertRaised']);
  });

  it('raises one alert per cooldown on all nodes together, and resolves it on recovery', async () => {
    const world = memoryWorld();
    const [one, other] = [fixture(world), fixture(world)];
    one.it.errors = other.it.errors = 50;
    await one.set({ enabled: true, webhookUrl: URL, cooldownMs: 60_000 });
    await Promise.all([other.evaluate(), one.evaluate()]);
    expect(await one.types('error_threshold')).to.deep.equal(['AlertRaised']);
    one.it.now += 59_999;
    await one.evaluate();
    expect(await one.types('error_threshold')).to.have.length(1);
    one.it.now += 1;
    await one.evaluate();
    const raised = await one.read('error_threshold');
    expect(raised).to.have.length(2);
    expect(new Set(raised.map(({ data }) => data.alertId))).to.have.property('size', 2);
    other.it.errors = 0;
    other.it.now = one.it.now;
    await other.evaluate();
    expect(await one.types('error_threshold')).to.deep.equal(['AlertRaised', 'AlertRaised', 'AlertResolved']);
    expect((await other.evaluate()).cooldownMs).to.equal(60_000);
  });

  it('evaluates again when the policy changes, and stops when aborted', async () => {
    const { it, watch, set, stop } = fixture();
    await set({ enabled: true, webhookUrl: URL, intervalMs: 3_600_000 });
    const before = it.windows.length;
    const watching = watch(stop.signal);
    while (it.windows.length === before) await new Promise(setImmediate);
    await set({ errorThreshold: 3 });
    const evaluations = it.windows.length;
    while (it.windows.length === evaluations) await new Promise(setImmediate);
    stop.abort();
    await watching;
    const ended = it.windows.length;
    await watch(AbortSignal.abort());
    expect(it.windows.length).to.equal(ended);
  });

  it('rejects a forbidden webhook URL, and checks none if the URL is not changed', async () => {
    const { it, set, alerts } = fixture();
    it.refusal = 'it is in a private network';
    expect(await alerts.change({ webhookUrl: URL }, context())).to.have.property('rejected');
    expect(it.refusals).to.deep.equal([URL]);
    await set({ windowMinutes: 7 });
    for (const webhookUrl of [null, '', '  ']) await set({ webhookUrl });
    expect(it.refusals).to.deep.equal([URL]);
    expect((await alerts.policy()).policy).to.include({ windowMinutes: 7, webhookUrl: null });
  });

  it('reports its health without the webhook URL', async () => {
    const { it, set, alerts } = fixture();
    expect((await alerts.health()).alertPolicy.webhookUrl).to.equal(null);
    it.errors = 50;
    await set({ enabled: true, webhookUrl: URL });
    const { alerting, alertPolicy } = await alerts.health();
    expect(alerting).to.deep.equal({ enabled: true, active: ['error_threshold'], undelivered: 1 });
    expect(alertPolicy).to.include({ webhookUrl: '[configured]', intervalMs: 30_000 });
  });

  it('answers a repeated change with its first result', async () => {
    const { set, alerts } = fixture();
    const how = context('change-1', 'the-body');
    const first = await set({ windowMinutes: 7 }, how);
    await set({ windowMinutes: 9 });
    const again = await set({ windowMinutes: 7 }, how);
    expect(again).to.deep.equal(first);
    expect((await alerts.policy()).policy.windowMinutes).to.equal(9);
  });

  it('remembers a change without effect if it has an idempotency key', async () => {
    const { set, alerts, log } = fixture();
    const { windowMinutes } = (await alerts.policy()).policy;
    await set({ windowMinutes });
    expect(await log.read(ALERT_POLICY_STREAM)).to.equal('missing');
    const how = context('change-1', 'the-body');
    const first = await set({ windowMinutes }, how);
    await set({ windowMinutes: windowMinutes + 1 });
    expect(await set({ windowMinutes }, how)).to.deep.equal(first);
    expect((await alerts.policy()).policy.windowMinutes).to.equal(windowMinutes + 1);
  });

  it('accepts a policy change while its rules cannot be evaluated', async () => {
    const { alerts: _, ...one } = fixture();
    const warnings: string[] = [];
    const alerts = createAlerts({
      ...one,
      webhooks: { refusal: async () => undefined },
      evaluate: () => Promise.reject(new Error('the index is away')),
      logger: { ...silentLogger, warn: (__, message) => void warnings.push(message) },
    });
    expect(taken(await alerts.change({ windowMinutes: 7 }, context())).policy.windowMinutes).to.equal(7);
    expect(warnings).to.deep.equal(['alert rules could not be evaluated']);
  });
});

describe('in memory, an alert', () => {
  async function raised() {
    const one = fixture();
    one.it.errors = 50;
    await one.set({
      enabled: true,
      webhookUrl: URL,
      webhookTimeoutMs: 700,
      webhookRetryAttempts: 2,
      webhookBackoffMs: 100,
    });
    const [event] = await one.read('error_threshold');
    const deliver = (each: RecordedEvent = event!) => one.reaction.on.AlertRaised(asEvent(each));
    return { ...one, event: event!, deliver };
  }

  it('is delivered to the webhook once, in the documented format, and the delivery is recorded', async () => {
    const { it, event, deliver, read, reaction } = await raised();
    expect(reaction.name).to.equal('logs.deliver');
    it.now += 1500;
    await deliver();
    expect(it.sent).to.have.length(1);
    const { signal, ...request } = it.sent[0]!;
    expect(request).to.deep.equal({
      url: URL,
      payload: {
        source: 'annals-logs',
        rule: 'error_threshold',
        severity: 'critical',
        triggeredAt: new Date(NOON).toISOString(),
        serviceUrl: 'https://logs.example.com',
        details: { errorCount: 50, threshold: 20, windowMinutes: 5 },
        alertId: event.data.alertId,
      },
      deliveryId: event.data.alertId,
      timeoutMs: 700,
      retries: 2,
      backoffMs: 100,
    });
    expect(signal.aborted).to.equal(false);
    const delivered = (await read('error_threshold')).at(-1)!;
    expect(delivered.type).to.equal('WebhookDelivered');
    const { alertId, rule } = event.data;
    expect(delivered.data).to.deep.equal({ alertId, rule, at: NOON + 1500, attempts: 1, status: 204 });
    expect(delivered.metadata).to.include({ actor: 'logs.deliver', $causationId: event.id });
    expect(delivered.metadata.$correlationId).to.equal(event.metadata.$correlationId);
    await deliver();
    expect(it.sent).to.have.length(1);
  });

  it('is delivered with the trace of its event, if it has one', async () => {
    const { it, event, deliver } = await raised();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await deliver({ ...event, metadata: { ...event.metadata, traceparent } });
    expect(it.sent[0]?.traceparent).to.equal(traceparent);
  });

  it('records the reason of a failed delivery', async () => {
    const { it, deliver, read } = await raised();
    it.outcome = { delivered: false, reason: 'it answered 500', status: 500, attempts: 3 };
    await deliver();
    const failed = (await read('error_threshold')).at(-1)!;
    expect(failed.type).to.equal('WebhookFailed');
    expect(failed.data).to.deep.include({ reason: 'it answered 500', status: 500, attempts: 3 });
  });

  it('is not delivered if the webhook URL was removed meanwhile', async () => {
    const { it, set, deliver, read } = await raised();
    await set({ webhookUrl: null });
    await deliver();
    expect(it.sent).to.have.length(0);
    const failed = (await read('error_threshold')).find(({ type }) => type === 'WebhookFailed');
    expect(failed!.data).to.deep.include({ reason: 'the webhook URL was removed from the alert policy', attempts: 0 });
  });
});

describe('in memory, a test of the webhook', () => {
  it('goes to the given URL or else to that of the policy, and returns the outcome', async () => {
    const { it, set, trial } = fixture();
    await set({ enabled: true, webhookUrl: URL });
    const sentAt = new Date(NOON).toISOString();
    expect(await trial({}, context())).to.deep.equal({ outcome: it.outcome, sentAt, targetUrl: URL });
    expect(it.sent[0]).to.deep.include({
      url: URL,
      retries: 3,
      timeoutMs: 5000,
      backoffMs: 250,
    });
    expect(it.sent[0]!.deadlineMs).to.be.within(1000, 9000);
    expect(it.sent[0]!.payload).to.deep.equal({
      source: 'annals-logs',
      rule: 'test',
      severity: 'info',
      triggeredAt: sentAt,
      serviceUrl: 'https://logs.example.com',
      details: { message: 'A test of the alert webhook' },
    });
    for (const webhookUrl of [null, '', '  ']) await trial({ webhookUrl }, context());
    const other = 'https://other.example.com/';
    await trial({ webhookUrl: ` ${other} ` }, context());
    expect(it.sent.map(({ url }) => url)).to.deep.equal([URL, URL, URL, URL, other]);
  });

  it('is rejected without a URL and for a forbidden URL', async () => {
    const { it, trial } = fixture();
    expect(await trial({}, context())).to.include({ rejected: 'logs/invalid-webhook-url', kind: 'invalid' });
    it.refusal = 'it is in a private network';
    const refused = (await trial({ webhookUrl: URL }, context())) as Rejection;
    expect(refused.rejected).to.equal('logs/invalid-webhook-url');
    expect(refused.detail).to.include('it is in a private network');
    expect(it.sent).to.have.length(0);
  });

  it('is sent once per idempotency key, which must not be reused for another body', async () => {
    const { it, trial } = fixture();
    const how = context('trial-1', 'body-1');
    const first = await trial({ webhookUrl: URL }, how);
    it.now += 1000;
    expect(await trial({ webhookUrl: URL }, how)).to.equal(first);
    expect(await trial({ webhookUrl: URL }, context('trial-1', 'body-2'))).to.include({
      rejected: 'logs/idempotency-key-reused',
      kind: 'misused-key',
    });
    expect(it.sent).to.have.length(1);
  });

  it('is limited to five concurrent deliveries', async () => {
    const { it, trial } = fixture();
    let answer = () => {};
    it.answered = new Promise((resolve) => {
      answer = resolve;
    });
    const ask = (key: string) => trial({ webhookUrl: URL }, context(key));
    const waiting = Array.from({ length: 5 }, (_, each) => ask(`trial-${each}`));
    expect(await ask('trial-5')).to.include({ rejected: 'logs/too-many-trials', kind: 'limit' });
    expect(ask('trial-0')).to.equal(waiting[0]);
    answer();
    await Promise.all(waiting);
    expect(await ask('trial-5')).to.include({ outcome: it.outcome });
    expect(it.sent).to.have.length(6);
  });
});
