/** Alerts of one rule: raised at most once per cooldown, resolved on recovery, delivered once. */
import type { Decider } from '../shared/index.js';
import type { LogsEvent } from './catalog.js';

type Raised = LogsEvent<'AlertRaised'>['data'];

export type Rule = Raised['rule'];
export type Severity = Raised['severity'];
export type Details = Raised['details'];

export type Verdict =
  | { readonly breached: true; readonly severity: Severity; readonly details: Details }
  | { readonly breached: false; readonly reason: LogsEvent<'AlertResolved'>['data']['reason'] };

export interface AlertState {
  /** Id of the last alert, while it is not resolved. */
  readonly active?: string;
  /** Unix ms. */
  readonly lastRaisedAt?: number;
  /** Newest alerts with neither a delivered nor a failed webhook, oldest first. */
  readonly undelivered: readonly string[];
}

export interface JudgeRule {
  readonly type: 'JudgeRule';
  readonly rule: Rule;
  readonly verdict: Verdict;
  readonly at: number;
  readonly cooldownMs: number;
  readonly alertId: string;
}

export interface RecordDelivery {
  readonly type: 'RecordDelivery';
  readonly rule: Rule;
  readonly alertId: string;
  readonly at: number;
  readonly attempts: number;
  /** HTTP status of the receiver's last response. */
  readonly status?: number;
  /** Why delivery failed for good; absent when delivered. */
  readonly failure?: string;
}

export type AlertCommand = JudgeRule | RecordDelivery;

export type AlertEvent = LogsEvent<'AlertRaised' | 'AlertResolved' | 'WebhookDelivered' | 'WebhookFailed'>;

/** Maximum alerts waiting for delivery; beyond it the oldest are dropped. */
export const MAX_UNDELIVERED = 100;

/** Milliseconds the clock of an evaluating node may lag behind. */
const CLOCK_SKEW_MS = 120_000;

export const alertStream = (rule: Rule): string => `logs.alert-${rule}`;

export const alert: Decider<AlertState, AlertCommand, AlertEvent> = {
  initialState: { undelivered: [] },
  decide: (command, state) => (command.type === 'JudgeRule' ? judge(command, state) : recordDelivery(command, state)),
  evolve: {
    AlertRaised: (_, { alertId, raisedAt, undelivered }) => ({
      active: alertId,
      lastRaisedAt: raisedAt,
      undelivered: [...undelivered, alertId].slice(-MAX_UNDELIVERED),
    }),
    AlertResolved: (state) => ({ ...state, active: undefined }),
    WebhookDelivered: removeUndelivered,
    WebhookFailed: removeUndelivered,
  },
};

function removeUndelivered(state: AlertState, { alertId }: { readonly alertId: string }): AlertState {
  return { ...state, undelivered: state.undelivered.filter((id) => id !== alertId) };
}

function judge({ rule, verdict, at, cooldownMs, alertId }: JudgeRule, state: AlertState): AlertEvent[] {
  const { active, lastRaisedAt, undelivered } = state;
  if (!verdict.breached) {
    if (active === undefined) return [];
    return [{ type: 'AlertResolved', data: { rule, alertId: active, resolvedAt: at, reason: verdict.reason } }];
  }
  if (lastRaisedAt !== undefined && isCooling(at - lastRaisedAt, cooldownMs)) return [];
  if (active === alertId) return [];
  const { severity, details } = verdict;
  const repeats = active === undefined ? {} : { repeats: active };
  const data = { rule, alertId, severity, raisedAt: at, details, undelivered, ...repeats };
  return [{ type: 'AlertRaised', data }];
}

/** Tolerates a clock a little behind; a raise time far in the future must not silence the rule until then. */
const isCooling = (sinceMs: number, cooldownMs: number): boolean =>
  sinceMs < cooldownMs && sinceMs >= -CLOCK_SKEW_MS - cooldownMs;

function recordDelivery({ type: _, failure, ...data }: RecordDelivery, state: AlertState): AlertEvent[] {
  if (!state.undelivered.includes(data.alertId)) return [];
  if (failure === undefined) return [{ type: 'WebhookDelivered', data }];
  return [{ type: 'WebhookFailed', data: { ...data, reason: failure } }];
}
