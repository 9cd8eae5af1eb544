/** Aggregates of alerting: the policy, and one alert stream per rule. */
import { type AlertCommand, type AlertEvent, type AlertState, alert } from '../../../domain/logs/alert.js';
import { ALERT_POLICY_STREAM, alertEvents } from '../../../domain/logs/alert-events.js';
import {
  type AlertPolicy,
  type AlertPolicyChanged,
  alertPolicy,
  type ChangeAlertPolicy,
} from '../../../domain/logs/alert-policy.js';
import type { Aggregate, AggregateStore } from '../../command/index.js';

const catalog = { service: 'logs', events: alertEvents };

export const alertPolicyAggregate: Aggregate<AlertPolicy, ChangeAlertPolicy, AlertPolicyChanged> = {
  catalog,
  decider: alertPolicy,
};
export const alertAggregate: Aggregate<AlertState, AlertCommand, AlertEvent> = {
  catalog,
  decider: alert,
  isSnapshotEvent: ({ type }) => type === 'AlertRaised',
};

/** Reloads the policy from the event log, because another node may have changed it. */
export const currentAlertPolicy = (aggregates: AggregateStore) =>
  aggregates.reload(alertPolicyAggregate, ALERT_POLICY_STREAM);
