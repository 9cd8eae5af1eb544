/** Which alerts were there: one row each, with how it ended and whether its webhook was delivered. */
import type { AlertRaised, AlertResolved, WebhookDelivered, WebhookFailed } from '../../domain/logs/alert.js';
import type { Projection, RowChange } from '../projection.js';

export const alertHistory: Projection = {
  name: 'logs.alerts',
  version: 1,
  indexes: [{ key: { raisedAt: -1, _id: -1 }, name: 'newest' }],
  on: {
    AlertRaised({ data }) {
      const { alertId, repeats, ...alert } = data as AlertRaised['data'];
      const changes: RowChange[] = [{ put: alertId, update: { $set: { ...alert, state: 'active' } } }];
      if (repeats)
        changes.push({ patch: repeats, update: { $set: { state: 'repeated', repeatedBy: alertId } } });
      return changes;
    },
    AlertResolved({ data }) {
      const { alertId, resolvedAt, reason } = data as AlertResolved['data'];
      return [{ patch: alertId, update: { $set: { state: 'resolved', resolvedAt, resolution: reason } } }];
    },
    WebhookDelivered({ data }) {
      const { alertId, rule: _, ...delivery } = data as WebhookDelivered['data'];
      return [{ patch: alertId, update: { $set: { delivery } } }];
    },
    WebhookFailed({ data }) {
      const { alertId, rule: _, ...delivery } = data as WebhookFailed['data'];
      return [{ patch: alertId, update: { $set: { delivery } } }];
    },
  },
};
