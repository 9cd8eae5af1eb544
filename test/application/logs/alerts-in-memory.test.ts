/** Alerting over a log in memory: what is judged, what goes out to the webhook, and what people are told of it. */
import { expect } from 'chai';
import { createAlerts } from '../../../application/logs/alerts.js';
import { deliveryReaction } from '../../../application/logs/alerts-delivery.js';
import { createEvaluation } from '../../../application/logs/alerts-evaluation.js';
import { createAlertHistory } from '../../../application/logs/alerts-history.js';
import { createTrial } from '../../../application/logs/alerts-trial.js';
import type { WebhookOutcome, WebhookRequest } from '../../../application/logs/ports.js';
import type { RecordedEvent, Rows } from '../../../application/ports.js';
import { alertStream } from '../../../domain/logs/alert.js';
import { alertEvents } from '../../../domain/logs/alert-events.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import { quiet } from '../../support/engines.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toys.js';

const NOON = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;
const URL = 'https://hooks.example.com/T0/secret';
const catalogs = [{ service: 'logs', events: alertEvents }];

function taken<T extends object>(outcome: T | Rejection): T {
  if (isRejection(outcome)) throw new Error(outcome.rejected);
  return outcome as T;
}

function fixture(world = memoryWorld()) {
  const kernel = memoryKernel(world, catalogs);
  const clock = { now: () => it.now };
  const it = {
    now: NOON,
    errors: 0,
    lastRecordAt: undefined as number | undefined,
    windows: [] as [number, number][],
    asked: 0,
    sent: [] as WebhookRequest[],
    outcome: { delivered: true, status: 204, attempts: 1 } as WebhookOutcome,
    refusals: [] as string[],
    refusal: undefined as string | undefined,
  };
  const webhooks = {
    async refusal(url: string) {
      it.refusals.push(url);
      return it.refusal;
    },
    async deliver(request: WebhookRequest) {
      it.sent.push(request);
      return it.outcome;
    },
  };
  const counts = {
    async errorsBetween(from: number, to: number) {
      it.windows.push([from, to]);
      return it.errors;
    },
    async lastRecordAt() {
      it.asked++;
      return it.lastRecordAt;
    },
  };
  const stop = new AbortController();
  const serviceUrl = () => 'https://logs.example.com';
  const ports = { ...kernel, clock, webhooks, counts, serviceUrl, logger: quiet, signal: stop.signal };
  const { evaluate, watch } = createEvaluation({ ...ports, context: kernel.systemContext });
  const alerts = createAlerts({ ...ports, evaluate });
  const reaction = deliveryReaction(ports);
  const read = async (rule: 'error_threshold' | 'no_logs') => {
    const found = await kernel.log.read(alertStream(rule));
    return typeof found === 'string' ? [] : found;
  };
  return {
    ...kernel,
    it,
    stop,
    evaluate,
    watch,
    alerts,
    reaction,
    trial: createTrial(ports),
    read,
    types: async (rule: 'error_threshold' | 'no_logs') => (await read(rule)).map(({ type }) => type),
    set: async (changes: { readonly [key: string]: unknown }, how = context()) =>
      taken(await alerts.change(changes, how)),
  };
}

describe('in memory, alerting', () => {
  it('judges nothing while it is off, and does not count', async () => {
    const { it, evaluate, types } = fixture();
    it.errors = 1000;
    await evaluate();
    expect(await types('error_threshold')).to.deep.equal([]);
    expect([it.windows, it.asked]).to.deep.equal([[], 0]);
  });

  it('counts the errors of its window, and asks for silence only where that matters', async () => {
    const { it, set, read, types } = fixture();
    it.errors = 7;
    const changed = await set({ enabled: true, webhookUrl: URL, errorThreshold: 7, windowMinutes: 2 });
    expect(changed.policy).to.include({ enabled: true, errorThreshold: 7 });
    expect(it.windows).to.deep.equal([[NOON - 2 * MINUTE, NOON]]);
    expect(it.asked).to.equal(0);
    const [raised] = await read('error_threshold');
    expect(raised!.data).to.deep.include({ rule: 'error_threshold', raisedAt: NOON, severity: 'critical' });
    expect(raised!.data.details).to.deep.equal({ errorCount: 7, threshold: 7, windowMinutes: 2 });
    expect(await types('no_logs')).to.deep.equal([]);
    it.lastRecordAt = NOON - MINUTE;
    await set({ noLogsThresholdMinutes: 1 });
    expect(it.asked).to.equal(1);
    expect(await types('no_logs')).to.deep.equal(['AlertRaised']);
  });

  it('raises one alert a cooldown on all nodes together, and resolves it when it is over', async () => {
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
    expect((await other.evaluate()).policy.cooldownMs).to.equal(60_000);
  });

  it('looks again when the policy changes, and ends when it is stopped', async () => {
    const { it, watch, set, stop } = fixture();
    await set({ enabled: true, webhookUrl: URL, intervalMs: 3_600_000 });
    const before = it.windows.length;
    const watching = watch(stop.signal);
    while (it.windows.length === before) await new Promise(setImmediate);
    await set({ errorThreshold: 3 });
    const asked = it.windows.length;
    while (it.windows.length === asked) await new Promise(setImmediate);
    stop.abort();
    await watching;
    const ended = it.windows.length;
    await watch(AbortSignal.abort());
    expect(it.windows.length).to.equal(ended);
  });

  it('refuses a target that must not be called, and looks at none where none is named', async () => {
    const { it, set, alerts } = fixture();
    it.refusal = 'it is in a private network';
    expect(await alerts.change({ webhookUrl: URL }, context())).to.have.property('rejected');
    expect(it.refusals).to.deep.equal([URL]);
    await set({ windowMinutes: 7 });
    for (const webhookUrl of [null, '', '  ']) await set({ webhookUrl });
    expect(it.refusals).to.deep.equal([URL]);
    expect((await alerts.policy()).policy).to.include({ windowMinutes: 7, webhookUrl: null });
  });

  it('tells how things stand, and no secret', async () => {
    const { it, set, alerts } = fixture();
    expect((await alerts.health()).alertPolicy.webhookUrl).to.equal(null);
    it.errors = 50;
    await set({ enabled: true, webhookUrl: URL });
    const { alerting, alertPolicy } = await alerts.health();
    expect(alerting).to.deep.equal({ enabled: true, active: ['error_threshold'], undelivered: 1 });
    expect(alertPolicy).to.include({ webhookUrl: '[configured]', intervalMs: 30_000 });
  });

  it('answers a change that is sent again as it did first', async () => {
    const { set, alerts } = fixture();
    const how = context('change-1', 'the-body');
    const first = await set({ windowMinutes: 7 }, how);
    await set({ windowMinutes: 9 });
    const again = await set({ windowMinutes: 7 }, how);
    expect(again).to.deep.equal(first);
    expect((await alerts.policy()).policy.windowMinutes).to.equal(9);
  });

  it('answers a change though its rules can not be judged now', async () => {
    const { alerts: _, ...one } = fixture();
    const told: string[] = [];
    const alerts = createAlerts({
      ...one,
      webhooks: { refusal: async () => undefined },
      evaluate: () => Promise.reject(new Error('the index is away')),
      logger: { ...quiet, warn: (__, message) => void told.push(message) },
    });
    expect(taken(await alerts.change({ windowMinutes: 7 }, context())).policy.windowMinutes).to.equal(7);
    expect(told).to.deep.equal(['the alert rules wait']);
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
    const deliver = (each: RecordedEvent = event!) => one.reaction.on.AlertRaised!(each);
    return { ...one, event: event!, deliver };
  }

  it('goes out to the webhook as the contract has it, once, and the log is told', async () => {
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

  it('that could not be delivered says why', async () => {
    const { it, deliver, read } = await raised();
    it.outcome = { delivered: false, reason: 'it answered 500', status: 500, attempts: 3 };
    await deliver();
    const failed = (await read('error_threshold')).at(-1)!;
    expect(failed.type).to.equal('WebhookFailed');
    expect(failed.data).to.deep.include({ reason: 'it answered 500', status: 500, attempts: 3 });
  });

  it('goes nowhere when the URL was taken away meanwhile', async () => {
    const { it, set, deliver, read } = await raised();
    await set({ webhookUrl: null });
    await deliver();
    expect(it.sent).to.have.length(0);
    const failed = (await read('error_threshold')).find(({ type }) => type === 'WebhookFailed');
    expect(failed!.data).to.deep.include({ reason: 'there is no webhook URL any more', attempts: 0 });
  });
});

describe('in memory, a trial of the webhook', () => {
  it('goes to the URL that is given, else to the policy’s, and is answered with what became of it', async () => {
    const { it, set, trial } = fixture();
    await set({ enabled: true, webhookUrl: URL });
    const sentAt = new Date(NOON).toISOString();
    expect(await trial({}, context())).to.deep.equal({ outcome: it.outcome, sentAt, targetUrl: URL });
    expect(it.sent[0]).to.deep.include({
      url: URL,
      retries: 3,
      timeoutMs: 5000,
      backoffMs: 250,
      deadlineMs: 25_000,
    });
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

  it('is refused without a URL, and for one that must not be called', async () => {
    const { it, trial } = fixture();
    expect(await trial({}, context())).to.include({ rejected: 'logs/invalid-webhook-url', kind: 'invalid' });
    it.refusal = 'it is in a private network';
    const refused = (await trial({ webhookUrl: URL }, context())) as Rejection;
    expect(refused.rejected).to.equal('logs/invalid-webhook-url');
    expect(refused.detail).to.include('it is in a private network');
    expect(it.sent).to.have.length(0);
  });

  it('is made once by a request that comes again, and not by another one under its key', async () => {
    const { it, trial } = fixture();
    const how = context('trial-1', 'body-1');
    const first = await trial({ webhookUrl: URL }, how);
    it.now += 1000;
    expect(await trial({ webhookUrl: URL }, how)).to.equal(first);
    expect(await trial({ webhookUrl: URL }, context('trial-1', 'body-2'))).to.include({
      rejected: 'logs/idempotency-key-reused',
      kind: 'conflict',
    });
    expect(it.sent).to.have.length(1);
  });
});

describe('in memory, the history of alerts', () => {
  const row = (id: string, raisedAt: number, more = {}) => ({
    _id: id,
    _at: { toBigInt: () => BigInt(raisedAt) },
    rule: 'no_logs',
    severity: 'warning',
    state: 'active',
    raisedAt,
    details: { thresholdMinutes: 5 },
    ...more,
  });
  type Compared = { $lt: number | string } | number;
  type Older = { $or: [{ raisedAt: Compared }, { raisedAt: number; _id: { $lt: string } }] };

  function history(all: readonly ReturnType<typeof row>[], inStep = true) {
    const waited: bigint[] = [];
    const rows: Rows = {
      async find<Row>(_: string, { filter, sort, limit }: Parameters<Rows['find']>[1]) {
        expect(sort).to.deep.equal({ raisedAt: -1, _id: -1 });
        const older = (filter as Partial<Older>).$or;
        const passes = ({ raisedAt, _id }: ReturnType<typeof row>) =>
          !older ||
          raisedAt < Number((older[0].raisedAt as { $lt: number }).$lt) ||
          (raisedAt === older[1].raisedAt && _id < older[1]._id.$lt);
        const sorted = all.toSorted((a, b) => b.raisedAt - a.raisedAt || (a._id < b._id ? 1 : -1));
        return sorted.filter(passes).slice(0, limit) as Row[];
      },
    };
    const settled = {
      position: () => 0n,
      latest: () => 70n,
      async wait(_: string, position: bigint) {
        waited.push(position);
        return inStep;
      },
    };
    return { read: createAlertHistory({ rows, settled }), waited };
  }

  it('is told newest first, page by page, none left out or told twice', async () => {
    const all = [row('a', 10), row('b', 30), row('c', 30), row('d', 20), row('e', 40)];
    const { read } = history(all);
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = taken(await read({ limit: 2, ...(cursor ? { cursor } : {}) }));
      ids.push(...page.body.alerts.map((each) => (each as { id: string }).id));
      expect(page.body.limit).to.equal(2);
      expect(page.body.hasMore).to.equal(ids.length < all.length);
      cursor = page.body.nextCursor;
    } while (cursor !== undefined);
    expect(ids).to.deep.equal(['e', 'c', 'b', 'd', 'a']);
    expect(taken(await read({ limit: 5 })).body)
      .to.include({ hasMore: false })
      .and.not.have.property('nextCursor');
    expect(taken(await read({ limit: 5 })).position).to.equal(40n);
  });

  it('says of each what it was about, and what became of it', async () => {
    const delivery = { at: 5000, attempts: 2, status: 500, reason: 'it answered 500' };
    const resolved = { state: 'resolved', resolvedAt: 4000, resolution: 'recovered', delivery };
    const { read } = history([
      row('a', 3000, resolved),
      row('b', 2000, { delivery: { at: 2500, attempts: 1, status: 200 }, repeatedBy: 'a' }),
      row('c', 1000),
    ]);
    const common = { rule: 'no_logs', severity: 'warning', details: { thresholdMinutes: 5 } };
    const iso = (at: number) => new Date(at).toISOString();
    expect(taken(await read({ limit: 10 })).body.alerts).to.deep.equal([
      {
        ...common,
        id: 'a',
        state: 'resolved',
        triggeredAt: iso(3000),
        resolvedAt: iso(4000),
        resolution: 'recovered',
        webhook: { delivered: false, at: iso(5000), attempts: 2, status: 500, reason: 'it answered 500' },
      },
      {
        ...common,
        id: 'b',
        state: 'active',
        triggeredAt: iso(2000),
        resolvedAt: null,
        repeatedBy: 'a',
        webhook: { delivered: true, at: iso(2500), attempts: 1, status: 200 },
      },
      {
        ...common,
        id: 'c',
        state: 'active',
        triggeredAt: iso(1000),
        resolvedAt: null,
        webhook: { delivered: false, attempts: 0 },
      },
    ]);
  });

  it('waits for what this node wrote and the caller has seen, and says when it is behind', async () => {
    const { read, waited } = history([], false);
    expect(taken(await read({ limit: 1 })).consistency).to.equal('pending');
    await read({ limit: 1, seen: 90n });
    expect(waited).to.deep.equal([70n, 90n]);
    expect(taken(await history([]).read({ limit: 1 }))).not.to.have.property('consistency');
  });

  it('takes no cursor that it did not give', async () => {
    const { read } = history([]);
    for (const cursor of [
      '',
      'x',
      '12',
      '12.',
      '.a',
      'x12.a',
      '12.a b',
      `12.${'a'.repeat(65)}`,
      '12345678901234567.a',
    ])
      expect(await read({ limit: 1, cursor }), cursor).to.include({
        rejected: 'logs/bad-cursor',
        kind: 'invalid',
      });
  });
});
