/** The streams of alerting, as the kernel takes them: the policy, and one per rule. */
import { type AlertCommand, type AlertEvent, type AlertState, alert } from '../../domain/logs/alert.js';
import { alertEvents, POLICY_STREAM } from '../../domain/logs/alert-events.js';
import {
  type AlertPolicy,
  type AlertPolicyChanged,
  type ChangeAlertPolicy,
  policy,
} from '../../domain/logs/policy.js';
import type { Aggregate, Streams } from '../command/streams.js';

const catalog = { service: 'logs', events: alertEvents };

export const policyKind: Aggregate<AlertPolicy, ChangeAlertPolicy, AlertPolicyChanged> = {
  catalog,
  decider: policy,
};
export const alertKind: Aggregate<AlertState, AlertCommand, AlertEvent> = { catalog, decider: alert };

/** The policy as the log has it now, whichever node changed it last. */
export const currentPolicy = (streams: Streams) => streams.refresh(policyKind, POLICY_STREAM);
