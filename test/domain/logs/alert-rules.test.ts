/** Verdicts of the alert rules. */
import { expect } from 'chai';
import { alertPolicy } from '../../../domain/logs/alert-policy.js';
import { verdicts, windowOf } from '../../../domain/logs/alert-rules.js';

const NOON = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;
const on = { ...alertPolicy.initialState, enabled: true, webhookUrl: 'https://hooks.example.com' };

describe('the error threshold rule', () => {
  const judge = (errors: number | undefined, more = {}) =>
    verdicts.error_threshold({ ...on, ...more }, { now: NOON, ...(errors === undefined ? {} : { errors }) });

  it('is breached at the threshold, with the error count', () => {
    expect(judge(20)).to.deep.equal({
      breached: true,
      severity: 'critical',
      details: { errorCount: 20, threshold: 20, windowMinutes: 5 },
    });
    expect(judge(19)).to.deep.equal({ breached: false, reason: 'recovered' });
    expect(judge(undefined)).to.deep.equal({ breached: false, reason: 'recovered' });
    expect(judge(3, { errorThreshold: 3, windowMinutes: 7 })).to.deep.include({
      details: { errorCount: 3, threshold: 3, windowMinutes: 7 },
    });
  });

  it('is disabled while alerting is disabled', () =>
    expect(judge(1000, { enabled: false })).to.deep.equal({ breached: false, reason: 'disabled' }));

  it('counts errors in the window that ends now', () =>
    expect(windowOf({ ...on, windowMinutes: 5 }, NOON)).to.deep.equal({ from: NOON - 5 * MINUTE, to: NOON }));
});

describe('the no-logs rule', () => {
  const judge = (lastRecordAt: number | undefined, more = {}) =>
    verdicts.no_logs(
      { ...on, noLogsThresholdMinutes: 10, ...more },
      { now: NOON, ...(lastRecordAt === undefined ? {} : { lastRecordAt }) },
    );

  it('is breached if the last record is as old as the threshold, or missing', () => {
    const last = NOON - 10 * MINUTE;
    expect(judge(last)).to.deep.equal({
      breached: true,
      severity: 'warning',
      details: { thresholdMinutes: 10, lastRecordAt: new Date(last).toISOString() },
    });
    expect(judge(undefined)).to.deep.equal({
      breached: true,
      severity: 'warning',
      details: { thresholdMinutes: 10, lastRecordAt: null },
    });
    expect(judge(last + 1)).to.deep.equal({ breached: false, reason: 'recovered' });
  });

  it('is disabled while alerting is disabled or without a threshold', () => {
    const off = { breached: false, reason: 'disabled' };
    expect(judge(undefined, { enabled: false })).to.deep.equal(off);
    expect(judge(undefined, { noLogsThresholdMinutes: 0 })).to.deep.equal(off);
  });
});
