/** What the log may hold about alerts; the service's catalog takes these in. */
import { event, object, type Properties } from '../shared/index.js';
import { LIMITS, type NumberSetting } from './alert-policy-limits.js';

export const RULES = ['error_threshold', 'no_logs'] as const;

export const ALERT_POLICY_STREAM = 'logs.policy-main';

const text = { type: 'string' } as const;
const integer = { type: 'integer' } as const;
const instant = { type: 'integer', minimum: 0 } as const;
const rule = { enum: RULES } as const;

/** An object that has no other members. */
const closed = <const Needed extends Properties, const Optional extends Properties = Record<never, never>>(
  needed: Needed,
  optional?: Optional,
) => ({ ...object(needed, optional), additionalProperties: false }) as const;

const numberSettings = Object.fromEntries(Object.keys(LIMITS).map((key) => [key, integer])) as {
  readonly [setting in NumberSetting]: typeof integer;
};

const delivery = { rule, alertId: text, at: instant, attempts: instant } as const;
/** Of the receiver's last answer. */
const status = integer;

export const alertEvents = {
  /**
   * Says the whole policy (`whole`); earlier releases wrote what changed and nothing else. A URL is a secret: who has it
   * can post to its owner.
   */
  AlertPolicyChanged: event(
    closed(
      {
        settings: closed({}, { enabled: { type: 'boolean' }, ...numberSettings }),
        secret: closed({}, { webhookUrl: { type: ['string', 'null'] } }),
      },
      { whole: { type: 'boolean' } },
    ),
    { sealed: { subject: () => ALERT_POLICY_STREAM, erased: { webhookUrl: null } } },
  ),
  AlertRaised: event(
    closed(
      {
        rule,
        alertId: text,
        severity: { enum: ['critical', 'warning'] },
        raisedAt: instant,
        /** For people: thresholds and what was counted. */
        details: { type: 'object', additionalProperties: { type: ['number', 'string', 'null'] } },
      },
      {
        /** The alert before this one, where its trouble just goes on. */
        repeats: text,
        /** The alerts before this one that are not delivered yet; earlier releases left them out. */
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
