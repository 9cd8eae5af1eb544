/** The streams of alerting, as the kernel takes them: the policy, and one per rule. */
import { type AlertCommand, type AlertEvent, type AlertState, alert } from '../../../domain/logs/alert.js';
import { ALERT_POLICY_STREAM, alertEvents } from '../../../domain/logs/alert-events.js';
import {
  type AlertPolicy,
  type AlertPolicyChanged,
  alertPolicy,
  type ChangeAlertPolicy,
} from '../../../domain/logs/alert-policy.js';
import type { LogsEvent } from '../../../domain/logs/catalog.js';
import type { Aggregate, Streams } from '../../command/aggregate-store.js';
import { isOf, takenFor } from '../../command/event-guards.js';

const catalog = { service: 'logs', events: alertEvents };

export const alertPolicyKind: Aggregate<AlertPolicy, ChangeAlertPolicy, AlertPolicyChanged> = {
  catalog,
  decider: alertPolicy,
  saysAll: (event) => takenFor<AlertPolicyChanged>(event).data.whole === true,
};
export const alertKind: Aggregate<AlertState, AlertCommand, AlertEvent> = {
  catalog,
  decider: alert,
  saysAll: (event) =>
    isOf<LogsEvent<'AlertRaised'>>('AlertRaised', event) && event.data.undelivered !== undefined,
};

/** The policy as the log has it now, whichever node changed it last. */
export const currentAlertPolicy = (streams: Streams) => streams.refresh(alertPolicyKind, ALERT_POLICY_STREAM);
