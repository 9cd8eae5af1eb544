/** Alerts of one rule: raised at most once per cooldown, resolved when the trouble is over, delivered once. */
import type { Decider, DomainEvent } from '../shared/decider.js';

export const RULES = ['error_threshold', 'no_logs'] as const;
export type Rule = (typeof RULES)[number];

export type Severity = 'critical' | 'warning';

/** What a rule found when it looked. */
export type Verdict =
  | { readonly breached: true; readonly severity: Severity; readonly details: Details }
  | { readonly breached: false; readonly reason: AlertResolved['data']['reason'] };

/** For people: thresholds and what was counted. */
export type Details = { readonly [name: string]: number | string | null };

export interface AlertState {
  /** The alert that was raised last, if it is not resolved. */
  readonly active?: string;
  /** Unix ms. */
  readonly lastRaisedAt?: number;
  /** Alerts whose webhook was neither delivered nor given up. */
  readonly undelivered: readonly string[];
}

export interface JudgeRule {
  readonly type: 'JudgeRule';
  readonly rule: Rule;
  readonly verdict: Verdict;
  /** Unix ms. */
  readonly at: number;
  readonly cooldownMs: number;
  /** For the alert, if it comes to one. */
  readonly alertId: string;
}

export interface RecordDelivery {
  readonly type: 'RecordDelivery';
  readonly rule: Rule;
  readonly alertId: string;
  /** Unix ms. */
  readonly at: number;
  readonly attempts: number;
  /** Of the receiver's last answer. */
  readonly status?: number;
  /** Why it was given up; absent when it was delivered. */
  readonly failure?: string;
}

export type AlertCommand = JudgeRule | RecordDelivery;

export type AlertRaised = DomainEvent<
  'AlertRaised',
  {
    readonly rule: Rule;
    readonly alertId: string;
    readonly severity: Severity;
    readonly raisedAt: number;
    readonly details: Details;
    /** The alert before this one, where its trouble just goes on. */
    readonly repeats?: string;
  }
>;

export type AlertResolved = DomainEvent<
  'AlertResolved',
  {
    readonly rule: Rule;
    readonly alertId: string;
    readonly resolvedAt: number;
    readonly reason: 'recovered' | 'disabled';
  }
>;

type Delivery = Omit<RecordDelivery, 'type' | 'failure'>;
export type WebhookDelivered = DomainEvent<'WebhookDelivered', Delivery>;
export type WebhookFailed = DomainEvent<'WebhookFailed', Delivery & { readonly reason: string }>;

export type AlertEvent = AlertRaised | AlertResolved | WebhookDelivered | WebhookFailed;

export const alertStream = (rule: Rule): string => `logs.alert-${rule}`;

export const alert: Decider<AlertState, AlertCommand, AlertEvent> = {
  initialState: { undelivered: [] },
  decide: (command, state) =>
    command.type === 'JudgeRule' ? judge(command, state) : recordDelivery(command, state),
  evolve(state, event) {
    const { alertId } = event.data;
    switch (event.type) {
      case 'AlertRaised':
        return {
          active: alertId,
          lastRaisedAt: event.data.raisedAt,
          undelivered: [...state.undelivered, alertId],
        };
      case 'AlertResolved':
        return { ...state, active: undefined };
      case 'WebhookDelivered':
      case 'WebhookFailed':
        return { ...state, undelivered: state.undelivered.filter((id) => id !== alertId) };
      default:
        return state;
    }
  },
};

function judge({ rule, verdict, at, cooldownMs, alertId }: JudgeRule, state: AlertState): AlertEvent[] {
  const { active, lastRaisedAt } = state;
  if (!verdict.breached) {
    if (active === undefined) return [];
    return [
      { type: 'AlertResolved', data: { rule, alertId: active, resolvedAt: at, reason: verdict.reason } },
    ];
  }
  // A clock that went back, or another node's that is behind, counts as within the cooldown.
  if (lastRaisedAt !== undefined && at < lastRaisedAt + cooldownMs) return [];
  if (active === alertId) return [];
  const { severity, details } = verdict;
  const repeats = active === undefined ? {} : { repeats: active };
  return [{ type: 'AlertRaised', data: { rule, alertId, severity, raisedAt: at, details, ...repeats } }];
}

function recordDelivery({ type: _, failure, ...data }: RecordDelivery, state: AlertState): AlertEvent[] {
  if (!state.undelivered.includes(data.alertId)) return [];
  if (failure === undefined) return [{ type: 'WebhookDelivered', data }];
  return [{ type: 'WebhookFailed', data: { ...data, reason: failure } }];
}
