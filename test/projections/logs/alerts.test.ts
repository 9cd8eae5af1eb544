/** The rows of alerts: each says how it ended and what became of its webhook, whichever of the two was first. */
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

  it('say of one that was raised that it is active, and of which rule it is', () =>
    given(raised('a'), raised('b', 'no_logs')).thenRows(row('a'), row('b', { rule: 'no_logs' })));

  for (const reason of ['recovered', 'disabled'] as const)
    it(`say when one was resolved, and that it is ${reason}`, () =>
      given(raised('a'), raised('b', 'no_logs'), resolved('a', reason)).thenRows(
        row('a', { state: 'resolved', resolvedAt: 20, resolution: reason }),
        row('b', { rule: 'no_logs' }),
      ));

  it('say which alert one was repeated by', () =>
    given(raised('a'), raised('b', 'error_threshold', 'a'), resolved('b')).thenRows(
      row('a', { state: 'repeated', repeatedBy: 'b' }),
      row('b', { state: 'resolved', resolvedAt: 20, resolution: 'recovered' }),
    ));

  it('say whether its webhook was delivered, before it is resolved or after', async () => {
    const told = { delivery: { at: 15, attempts: 1, status: 204 } };
    const ended = { state: 'resolved', resolvedAt: 20, resolution: 'recovered' };
    await given(raised('a'), delivered('a')).thenRows(row('a', told));
    await given(raised('a'), delivered('a'), resolved('a')).thenRows(row('a', { ...told, ...ended }));
    await given(raised('a'), resolved('a'), delivered('a')).thenRows(row('a', { ...told, ...ended }));
  });

  it('say why its webhook was given up, of one that was repeated too', () =>
    given(raised('a'), raised('b', 'error_threshold', 'a'), failed('a')).thenRows(
      row('a', {
        state: 'repeated',
        repeatedBy: 'b',
        delivery: { at: 15, attempts: 8, reason: 'timeout' },
      }),
      row('b'),
    ));

  it('are not made by what is told of an alert that nobody raised', () =>
    given(resolved('a'), delivered('a'), raised('b', 'error_threshold', 'a')).thenRows(row('b')));
});
