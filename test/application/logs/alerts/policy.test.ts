/** The alert policy over HTTP and both stores: shared by all nodes, changed in part, validated by field. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { alertPolicyAggregate } from '../../../../application/logs/alerts/aggregates.js';
import { ALERT_POLICY_STREAM } from '../../../../domain/logs/alert-events.js';
import { alertPolicy } from '../../../../domain/logs/alert-policy.js';
import { isRejection } from '../../../../domain/shared/decider.js';
import { useAlerting } from './alert-node.js';

describe('the alert policy over HTTP', function () {
  this.timeout(120_000);
  const alerting = useAlerting();
  const { start, put, on } = alerting;

  it('has defaults', async () => {
    const { status, body } = await (await start()).ask('GET', '/api/alerts/config');
    expect(status).to.equal(200);
    expect(body.policy).to.include({
      enabled: false,
      webhookUrl: null,
      intervalMs: 30_000,
      errorThreshold: 20,
    });
  });

  it('is changed in part, applies on every node, and stores the URL encrypted', async () => {
    const [one, other] = [await start(), await start()];
    await other.ask('GET', '/api/alerts/config');
    const { status, body, headers } = await put(one, { ...on(), windowMinutes: 7 });
    expect(status).to.equal(200);
    expect(body.policy).to.include({
      enabled: true,
      webhookUrl: alerting.receiver.url,
      windowMinutes: 7,
      errorThreshold: 20,
    });
    expect(Number(headers.get('position'))).to.be.greaterThan(0);
    expect((await other.ask('GET', '/api/alerts/config')).body).to.deep.equal(body);
    const events = await one.kernel.log.read('logs.policy-main');
    expect(JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value)))
      .to.include('AlertPolicyChanged')
      .and.not.include('127.0.0.1');
  });

  it('answers a repeated change with its first result', async () => {
    const node = await start();
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await put(node, { windowMinutes: 7 }, headers);
    await put(node, { windowMinutes: 8 });
    expect((await put(node, { windowMinutes: 7 }, headers)).body).to.deep.equal(first.body);
    expect((await node.ask('GET', '/api/alerts/config')).body.policy.windowMinutes).to.equal(8);
    expect((await put(node, { windowMinutes: 9 }, headers)).status).to.equal(422);
  });

  it('remembers a keyed change without effect, whose repetition does not undo later changes', async () => {
    const [node, other] = [await start(), await start()];
    const headers = { 'Idempotency-Key': randomUUID() };
    await put(node, { windowMinutes: 8 });
    const first = await put(node, { windowMinutes: 8 }, headers);
    await put(node, { windowMinutes: 5 });
    for (const each of [node, other]) {
      const again = await put(each, { windowMinutes: 8 }, headers);
      expect([again.status, again.body]).to.deep.equal([200, first.body]);
      expect(again.headers.get('position')).to.equal(first.headers.get('position'));
      expect((await put(each, { windowMinutes: 9 }, headers)).status).to.equal(422);
      expect((await each.ask('GET', '/api/alerts/config')).body.policy.windowMinutes).to.equal(5);
    }
  });

  it('recognises a repeated change after hundreds of others, on a node that never loaded the policy', async () => {
    const [node, other] = [await start(), await start()];
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await put(node, { windowMinutes: 7 }, headers);
    const { state } = await node.kernel.aggregates.load(alertPolicyAggregate, ALERT_POLICY_STREAM);
    const changed = alertPolicy.decide({ type: 'ChangeAlertPolicy', changes: { windowMinutes: 9 } }, state);
    if (isRejection(changed)) throw new Error(changed.rejected);
    const others = Array.from({ length: 250 }, () => ({
      id: randomUUID(),
      event: changed[0]!,
      metadata: {},
    }));
    await node.kernel.log.append(ALERT_POLICY_STREAM, 0, others);
    const again = await put(other, { windowMinutes: 7 }, headers);
    expect([again.status, again.body]).to.deep.equal([200, first.body]);
    expect((await put(other, { windowMinutes: 6 }, headers)).status).to.equal(422);
    expect((await other.ask('GET', '/api/alerts/config')).body.policy.windowMinutes).to.equal(9);
  });

  it('rejects invalid changes by field name, and changes nothing', async () => {
    const node = await start();
    const wrong: [unknown, RegExp][] = [
      [{ intervalMs: 999 }, /intervalMs/],
      [{ intervalMs: '30000' }, /intervalMs/],
      [{ intervalMs: 1000.5 }, /intervalMs/],
      [{ windowMinutes: 0 }, /windowMinutes/],
      [{ windowMinutes: 9, errorTreshold: 3 }, /errorTreshold/],
      ['{"windowMinutes":9,"__proto__":1}', /__proto__/],
      [{ enabled: 1 }, /enabled/],
      [{ enabled: true }, /enabled/],
      [{ webhookUrl: 5 }, /webhookUrl/],
      [{ webhookUrl: 'ftp://example.com/' }, /webhookUrl/],
      [{ webhookUrl: 'http://169.254.169.254/latest/meta-data' }, /webhookUrl.*link-local/],
      [{ webhookUrl: 'http://user:secret@example.com/' }, /webhookUrl.*credentials/],
      [[1], /./],
      ['nonsense', /JSON/],
    ];
    for (const [changes, complaint] of wrong) {
      const { status, body } = await put(node, changes);
      expect(status, JSON.stringify(changes)).to.equal(400);
      expect(body.error).to.match(complaint);
    }
    expect(await node.kernel.log.read('logs.policy-main')).to.equal('missing');
  });

  it('accepts a URL in a private range only if allowed', async () => {
    const strict = await start({ allowPrivate: false });
    const refused = await put(strict, on());
    expect(refused.status).to.equal(400);
    expect(refused.body.error).to.match(/webhookUrl.*private/);
  });

  it('disables alerting when the URL is cleared', async () => {
    const node = await start();
    await put(node, on());
    for (const webhookUrl of [null, '']) {
      await put(node, on());
      const { body } = await put(node, { webhookUrl });
      expect(body.policy).to.include({ enabled: false, webhookUrl: null });
    }
  });
});
