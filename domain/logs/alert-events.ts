/** Events of alerting, part of the log service's catalog. */
import { event, object, type Properties } from '../shared/index.js';

export const RULES = ['error_threshold', 'no_logs'] as const;

export const ALERT_POLICY_STREAM = 'logs.policy-main';

/** Initial value and range of each number in the policy. */
export const LIMITS = {
  intervalMs: { initial: 30_000, min: 1000, max: 86_400_000 },
  windowMinutes: { initial: 5, min: 1, max: 43_200 },
  errorThreshold: { initial: 20, min: 1, max: 1_000_000_000 },
  /** 0 disables the rule. */
  noLogsThresholdMinutes: { initial: 0, min: 0, max: 43_200 },
  cooldownMs: { initial: 300_000, min: 0, max: 2_592_000_000 },
  webhookTimeoutMs: { initial: 5000, min: 10, max: 60_000 },
  webhookRetryAttempts: { initial: 3, min: 0, max: 10 },
  webhookBackoffMs: { initial: 250, min: 0, max: 60_000 },
} as const;

export type NumberSetting = keyof typeof LIMITS;

const text = { type: 'string' } as const;
const integer = { type: 'integer' } as const;
const instant = { type: 'integer', minimum: 0 } as const;
const rule = { enum: RULES } as const;

const closed = <const Required extends Properties, const Optional extends Properties = Record<never, never>>(
  needed: Required,
  optional?: Optional,
) => ({ ...object(needed, optional), additionalProperties: false }) as const;

const numberSettings = Object.fromEntries(Object.keys(LIMITS).map((key) => [key, integer])) as {
  readonly [setting in NumberSetting]: typeof integer;
};

const delivery = { rule, alertId: text, at: instant, attempts: instant } as const;
const status = integer;

export const alertEvents = {
  /** Holds all settings. The URL is a secret, because it alone grants access to the receiver. */
  AlertPolicyChanged: event(
    closed({
      settings: closed({}, { enabled: { type: 'boolean' }, ...numberSettings }),
      secret: closed({}, { webhookUrl: { type: ['string', 'null'] } }),
    }),
    { sealed: { subject: () => ALERT_POLICY_STREAM, erased: { webhookUrl: null } } },
  ),
  AlertRaised: event(
    closed(
      {
        rule,
        alertId: text,
        severity: { enum: ['critical', 'warning'] },
        raisedAt: instant,
        /** For display: thresholds and counts. */
        details: { type: 'object', additionalProperties: { type: ['number', 'string', 'null'] } },
        /** Ids of earlier alerts not delivered yet. */
        undelivered: { type: 'array', items: text },
      },
      /** Id of the preceding alert that was never resolved. */
      { repeats: text },
    ),
  ),
  AlertResolved: event(
    closed({
      rule,
      alertId: text,
      resolvedAt: instant,
      reason: { enum: ['recovered', 'disabled'] },
    }),
  ),
  WebhookDelivered: event(closed(delivery, { status })),
  WebhookFailed: event(closed({ ...delivery, reason: text }, { status })),
};
