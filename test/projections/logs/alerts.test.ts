/** Rows of alerts: resolution and webhook delivery, in either order. */
import type { AlertEvent, Rule } from '../../../domain/logs/alert.js';
import { alertStream } from '../../../domain/logs/alert.js';
import { alertHistory } from '../../../projections/logs/alerts.js';
import { projectionSpec } from '../../support/projection-spec.js';

const details = { errorCount: 21 };
const severity = 'critical';

const raised = (alertId: string, rule: Rule = 'error_threshold', repeats?: string): AlertEvent => ({
  type: 'AlertRaised',
  data: { rule, alertId, severity, raisedAt: 10, details, undelivered: [], ...(repeats ? { repeats } : {}) },
});
const resolved = (alertId: string, reason: 'recovered' | 'disabled' = 'recovered'): AlertEvent => ({
  type: 'AlertResolved',
  data: { rule: 'error_threshold', alertId, resolvedAt: 20, reason },
});
const delivered = (alertId: string): AlertEvent => ({
  type: 'WebhookDelivered',
  data: { rule: 'error_threshold', alertId, at: 15, attempts: 1, status: 204 },
});
const failed = (alertId: string): AlertEvent => ({
  type: 'WebhookFailed',
  data: { rule: 'error_threshold', alertId, at: 15, attempts: 8, reason: 'timeout' },
});
const row = (_id: string, more: object = {}) => ({
  _id,
  rule: 'error_threshold',
  severity,
  raisedAt: 10,
  details,
  state: 'active',
  ...more,
});

describe('the rows of alerts', function () {
  this.timeout(60_000);
  const { given } = projectionSpec(alertHistory, ({ data }: AlertEvent) => alertStream(data.rule));

  it('contain a raised alert as active, with its rule', () =>
    given(raised('a'), raised('b', 'no_logs')).thenRows(row('a'), row('b', { rule: 'no_logs' })));

  for (const reason of ['recovered', 'disabled'] as const)
    it(`contain the time of resolution, and that it is ${reason}`, () =>
      given(raised('a'), raised('b', 'no_logs'), resolved('a', reason)).thenRows(
        row('a', { state: 'resolved', resolvedAt: 20, resolution: reason }),
        row('b', { rule: 'no_logs' }),
      ));

  it('contain the alert that repeats it', () =>
    given(raised('a'), raised('b', 'error_threshold', 'a'), resolved('b')).thenRows(
      row('a', { state: 'repeated', repeatedBy: 'b' }),
      row('b', { state: 'resolved', resolvedAt: 20, resolution: 'recovered' }),
    ));

  it('contain the webhook delivery, before or after the resolution', async () => {
    const delivery = { delivery: { at: 15, attempts: 1, status: 204 } };
    const ended = { state: 'resolved', resolvedAt: 20, resolution: 'recovered' };
    await given(raised('a'), delivered('a')).thenRows(row('a', delivery));
    await given(raised('a'), delivered('a'), resolved('a')).thenRows(row('a', { ...delivery, ...ended }));
    await given(raised('a'), resolved('a'), delivered('a')).thenRows(row('a', { ...delivery, ...ended }));
  });

  it('contain the reason of a failed delivery, also of a repeated alert', () =>
    given(raised('a'), raised('b', 'error_threshold', 'a'), failed('a')).thenRows(
      row('a', {
        state: 'repeated',
        repeatedBy: 'b',
        delivery: { at: 15, attempts: 8, reason: 'timeout' },
      }),
      row('b'),
    ));

  it('are not created by later events of an unknown alert', () =>
    given(resolved('a'), delivered('a'), raised('b', 'error_threshold', 'a')).thenRows(row('b')));
});
