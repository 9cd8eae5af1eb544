/** Events of alerting, part of the log service's catalog. */
import { event, object, type Properties } from '../shared/index.js';
import { LIMITS, type NumberSetting } from './alert-policy-limits.js';

export const RULES = ['error_threshold', 'no_logs'] as const;

export const ALERT_POLICY_STREAM = 'logs.policy-main';

const text = { type: 'string' } as const;
const integer = { type: 'integer' } as const;
const instant = { type: 'integer', minimum: 0 } as const;
const rule = { enum: RULES } as const;

/** An object without additional properties. */
const closed = <const Required extends Properties, const Optional extends Properties = Record<never, never>>(
  needed: Required,
  optional?: Optional,
) => ({ ...object(needed, optional), additionalProperties: false }) as const;

const numberSettings = Object.fromEntries(Object.keys(LIMITS).map((key) => [key, integer])) as {
  readonly [setting in NumberSetting]: typeof integer;
};

const delivery = { rule, alertId: text, at: instant, attempts: instant } as const;
/** HTTP status of the receiver's last response. */
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
      },
      {
        /** Id of the preceding alert that was never resolved. */
        repeats: text,
        /** Ids of earlier alerts not delivered yet. */
        undelivered: { type: 'array', items: text },
      },
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
