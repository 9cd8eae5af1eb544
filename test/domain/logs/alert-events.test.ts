/** The events of alerting match their schemas. */
import { expect } from 'chai';
import { alert, type JudgeRule } from '../../../domain/logs/alert.js';
import { alertEvents } from '../../../domain/logs/alert-events.js';
import { alertPolicy } from '../../../domain/logs/alert-policy.js';
import type { Catalog, DomainEvent } from '../../../domain/shared/decider.js';
import { expectRequired, fitting } from '../../support/catalog-spec.js';
import { specOf } from '../../support/decider-spec.js';

const events: Catalog['events'] = alertEvents;
const fits = fitting(events);

const rule = 'error_threshold';
const judge = (alertId: string, at: number, verdict: JudgeRule['verdict']): JudgeRule => ({
  type: 'JudgeRule',
  rule,
  verdict,
  at,
  cooldownMs: 10,
  alertId,
});
const breach: JudgeRule['verdict'] = {
  breached: true,
  severity: 'warning',
  details: { lastRecordAt: null, thresholdMinutes: 5 },
};
const delivery = { type: 'RecordDelivery', rule, at: 50, attempts: 1 } as const;

const emitted: readonly DomainEvent[] = [
  ...specOf(alertPolicy).run([
    { type: 'ChangeAlertPolicy', changes: { enabled: true, webhookUrl: 'https://hooks.example.com/' } },
    { type: 'ChangeAlertPolicy', changes: { windowMinutes: 3 } },
    { type: 'ChangeAlertPolicy', changes: { webhookUrl: null } },
  ]).events,
  ...specOf(alert).run([
    judge('a', 10, breach),
    judge('b', 30, breach),
    judge('c', 50, { breached: false, reason: 'disabled' }),
    { ...delivery, alertId: 'a', status: 204 },
    { ...delivery, alertId: 'b', status: undefined, failure: 'the connection was refused' },
  ]).events,
];

describe('the events of alerting', () => {
  it('are all event types of alerting', () => {
    expect(Object.keys(alertEvents)).to.have.members([...new Set(emitted.map(({ type }) => type))]);
  });

  it('match their schemas after serialization', () => {
    for (const { type, data } of emitted) {
      expect(fits(type, 1, JSON.parse(JSON.stringify(data))), type).to.equal(true);
      expect(fits(type, 1, data), `${type} before it is JSON`).to.equal(true);
    }
  });

  it('are rejected with an extra or a missing field', () => {
    for (const { type, data } of emitted) expect(fits(type, 1, { ...data, more: 1 }), type).to.equal(false);
    expectRequired(events, emitted, {
      AlertRaised: ['repeats'],
      WebhookDelivered: ['status'],
      WebhookFailed: ['status'],
    });
  });

  it('encrypt only the webhook URL, with a valid fallback after erasure', () => {
    for (const { type, data } of emitted) {
      const sealing = events[type]?.sealed;
      expect(!!sealing, type).to.equal('secret' in data);
      if (sealing) expect(fits(type, 1, { ...data, secret: sealing.erased })).to.equal(true);
    }
    expect(JSON.stringify(emitted.map(({ data }) => ({ ...data, secret: 0 })))).not.to.include('hooks.example');
  });
});
