/** Alerts: raised once per rule and cooldown, resolved once, delivered once. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type AlertEvent,
  type AlertState,
  alert,
  type JudgeRule,
  MAX_UNDELIVERED,
  type RecordDelivery,
  type Verdict,
} from '../../../domain/logs/alert.js';
import { alertPolicy } from '../../../domain/logs/alert-policy.js';
import { verdicts, windowOf } from '../../../domain/logs/alert-rules.js';
import { evolveOf } from '../../../domain/shared/decider.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(alert);
const rule = 'error_threshold';
const details = { errorCount: 21 };
const breach = { breached: true, severity: 'critical', details } satisfies Verdict;
const fine = { breached: false, reason: 'recovered' } satisfies Verdict;

const judge = (alertId: string, at: number, verdict: Verdict = breach): JudgeRule => ({
  type: 'JudgeRule',
  rule,
  verdict,
  at,
  cooldownMs: 1000,
  alertId,
});
const raised = (
  alertId: string,
  raisedAt: number,
  { undelivered = [], ...rest }: { repeats?: string; undelivered?: string[] } = {},
): AlertEvent => ({
  type: 'AlertRaised',
  data: { rule, alertId, severity: 'critical', raisedAt, details, undelivered, ...rest },
});
const resolved = (alertId: string, resolvedAt: number): AlertEvent => ({
  type: 'AlertResolved',
  data: { rule, alertId, resolvedAt, reason: 'recovered' },
});
const outcome = (alertId: string, failure?: string): RecordDelivery => ({
  type: 'RecordDelivery',
  rule,
  alertId,
  at: 50,
  attempts: 2,
  status: failure ? 500 : 204,
  failure,
});

describe('an alert', () => {
  it('is raised when its rule is breached', () => given().when(judge('a', 10)).then(raised('a', 10)));

  it('is not raised again within the cooldown, even if resolved', () => {
    given(raised('a', 10)).when(judge('b', 1009)).thenNothing();
    given(raised('a', 10), resolved('a', 20)).when(judge('b', 1009)).thenNothing();
  });

  it('is not raised by a clock that is behind', () => given(raised('a', 5000)).when(judge('b', 10)).thenNothing());

  it('is raised again after a clock far ahead was corrected', () =>
    given(raised('a', 500_000))
      .when(judge('b', 10))
      .then(raised('b', 10, { repeats: 'a', undelivered: ['a'] })));

  it('repeats the previous one if the breach outlasts the cooldown', () =>
    given(raised('a', 10))
      .when(judge('b', 1010))
      .then(raised('b', 1010, { repeats: 'a', undelivered: ['a'] })));

  it('does not repeat a resolved one', () =>
    given(raised('a', 10), resolved('a', 20))
      .when(judge('b', 1010))
      .then(raised('b', 1010, { undelivered: ['a'] })));

  it('is resolved once when the rule recovers', () => {
    given(raised('a', 10))
      .when(judge('b', 20, fine))
      .then(resolved('a', 20));
    given(raised('a', 10), resolved('a', 20))
      .when(judge('b', 30, fine))
      .thenNothing();
    given()
      .when(judge('b', 30, fine))
      .thenNothing();
  });

  it('records its delivery once', () => {
    const delivered: AlertEvent = {
      type: 'WebhookDelivered',
      data: { rule, alertId: 'a', at: 50, attempts: 2, status: 204 },
    };
    given(raised('a', 10)).when(outcome('a')).then(delivered);
    given(raised('a', 10), delivered).when(outcome('a')).thenNothing();
    given(raised('a', 10), delivered).when(outcome('a', 'timed out')).thenNothing();
    given().when(outcome('unknown')).thenNothing();
  });

  it('records a failed delivery with the reason', () =>
    given(raised('a', 10), raised('b', 1010, { undelivered: ['a'] }))
      .when(outcome('a', 'the receiver answered 500'))
      .then({
        type: 'WebhookFailed',
        data: { rule, alertId: 'a', at: 50, attempts: 2, status: 500, reason: 'the receiver answered 500' },
      }));

  it('lists a bounded number of undelivered alerts', () => {
    const each = (n: number) => judge(`a${n}`, n * 1000);
    let state: AlertState = alert.initialState;
    for (let n = 0; n < 3 * MAX_UNDELIVERED; n++)
      state = (alert.decide(each(n), state) as readonly AlertEvent[]).reduce(evolveOf(alert), state);
    expect(state.undelivered).to.have.length(MAX_UNDELIVERED);
    expect(state.undelivered.at(-1)).to.equal(state.active);
  });

  it('carries the whole state of its rule in its event', () => {
    const before = [raised('a', 10), raised('b', 1010, { undelivered: ['a'] }), resolved('b', 1020)];
    const state = before.reduce(evolveOf(alert), alert.initialState);
    const [raisedEvent] = alert.decide(judge('c', 3000), state) as readonly AlertEvent[];
    expect([raisedEvent!].reduce(evolveOf(alert), alert.initialState)).to.deep.equal(
      evolveOf(alert)(state, raisedEvent!),
    );
  });

  it('is raised at most once per cooldown, and repeated evaluations have no effect', () => {
    const judgements = fc.array(
      fc.record({ at: fc.nat(20_000), breached: fc.boolean(), cooldownMs: fc.constantFrom(0, 1000, 5000) }),
    );
    fc.assert(
      fc.property(judgements, (list) => {
        let state: AlertState = alert.initialState;
        let last = Number.NEGATIVE_INFINITY;
        for (const [index, { at, breached, cooldownMs }] of list.entries()) {
          const command = { ...judge(`a${index}`, at, breached ? breach : fine), cooldownMs };
          const events = alert.decide(command, state) as readonly AlertEvent[];
          for (const event of events) {
            if (event.type !== 'AlertRaised') continue;
            expect(at).to.be.at.least(last + cooldownMs);
            last = at;
          }
          state = events.reduce(evolveOf(alert), state);
          expect(alert.decide(command, state)).to.deep.equal([]);
          if (!breached) expect(state.active).to.equal(undefined);
        }
      }),
    );
  });
});

describe('the verdicts of the alert policy', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const on = { ...alertPolicy.initialState, enabled: true, webhookUrl: 'https://hooks.example.com/' };

  it('count errors in the window', () => {
    expect(windowOf(on, now)).to.deep.equal({ from: now - 5 * 60_000, to: now });
    expect(verdicts.error_threshold(on, { now, errors: 19 }).breached).to.equal(false);
    expect(verdicts.error_threshold(on, { now, errors: 20 })).to.deep.equal({
      breached: true,
      severity: 'critical',
      details: { errorCount: 20, threshold: 20, windowMinutes: 5 },
    });
  });

  it('compare the time since the last received record', () => {
    const watching = { ...on, noLogsThresholdMinutes: 2 };
    const lastRecordAt = now - 2 * 60_000;
    expect(verdicts.no_logs(watching, { now, lastRecordAt: lastRecordAt + 1 }).breached).to.equal(false);
    expect(verdicts.no_logs(watching, { now, lastRecordAt })).to.deep.equal({
      breached: true,
      severity: 'warning',
      details: { thresholdMinutes: 2, lastRecordAt: '2026-11-21T11:58:00.000Z' },
    });
  });

  it('treat a log without records as no logs', () => {
    const found = verdicts.no_logs({ ...on, noLogsThresholdMinutes: 2 }, { now });
    expect(found).to.deep.include({ breached: true, details: { thresholdMinutes: 2, lastRecordAt: null } });
  });

  it('are inactive while disabled', () => {
    const off = { breached: false, reason: 'disabled' };
    expect(verdicts.no_logs(on, { now })).to.deep.equal(off);
    expect(verdicts.error_threshold({ ...on, enabled: false }, { now, errors: 99 })).to.deep.equal(off);
    expect(verdicts.no_logs({ ...on, enabled: false, noLogsThresholdMinutes: 1 }, { now })).to.deep.equal(off);
  });
});
