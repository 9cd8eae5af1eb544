/** Alert history: one row per alert, with its outcome and webhook delivery. */
import type { RecordedEvent } from '../../application/ports/index.js';
import type { AlertEvent } from '../../domain/logs/alert.js';
import type { LogsEvent } from '../../domain/logs/catalog.js';
import type { Projection, RowChange } from '../kernel/index.js';

export const alertHistory: Projection<AlertEvent> = {
  name: 'logs.alerts',
  version: 1,
  indexes: [{ key: { raisedAt: -1, _id: -1 }, name: 'newest' }],
  on: {
    AlertRaised({ data: { alertId, repeats, undelivered: _, ...alert } }) {
      const changes: RowChange[] = [{ put: alertId, update: { $set: { ...alert, state: 'active' } } }];
      if (repeats) changes.push({ patch: repeats, update: { $set: { state: 'repeated', repeatedBy: alertId } } });
      return changes;
    },
    AlertResolved: ({ data: { alertId, resolvedAt, reason } }) => [
      { patch: alertId, update: { $set: { state: 'resolved', resolvedAt, resolution: reason } } },
    ],
    WebhookDelivered: recordDelivery,
    WebhookFailed: recordDelivery,
  },
};

type DeliveryOutcome = LogsEvent<'WebhookDelivered' | 'WebhookFailed'>;

function recordDelivery({ data: { alertId, rule: _, ...delivery } }: RecordedEvent<DeliveryOutcome>): RowChange[] {
  return [{ patch: alertId, update: { $set: { delivery } } }];
}
