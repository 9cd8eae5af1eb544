/** What the routes of alerting take and answer, for checking and for the document. */
import { LIMITS } from '../../../domain/logs/alert-policy-limits.js';
import { object } from '../../../domain/shared/index.js';

const text = { type: 'string' } as const;
const instant = { type: 'string', format: 'date-time' } as const;
const integer = { type: 'integer' } as const;

const MEANINGS: { readonly [setting in keyof typeof LIMITS]: string } = {
  intervalMs: 'Time between two evaluations of the rules',
  windowMinutes: 'How far back the rule error_threshold looks',
  errorThreshold: 'So many records of level ERROR or FATAL in the window raise an alert',
  noLogsThresholdMinutes: 'So many minutes without any record raise an alert; 0 turns the rule off',
  cooldownMs: 'A rule raises no second alert within this time',
  webhookTimeoutMs: 'Time for one attempt to deliver an alert',
  webhookRetryAttempts: 'Further attempts after the first',
  webhookBackoffMs: 'Wait before the first further attempt; doubled for each one after it',
};

const WEBHOOK_URL = 'Where alerts are posted to: http or https, and none of the addresses that are refused';

/** The titles make up the sentence about a wrong value. */
const numbers = Object.fromEntries(
  Object.entries(LIMITS).map(([key, { initial, min, max }]) => [
    key,
    {
      type: 'integer' as const,
      minimum: min,
      maximum: max,
      title: `${key} (a whole number from ${min} to ${max})`,
      description: `${MEANINGS[key as keyof typeof LIMITS]} (initially ${initial})`,
    },
  ]),
);

const settings = {
  enabled: {
    type: 'boolean',
    title: 'enabled (true or false)',
    description: 'Whether the rules are evaluated',
  },
  webhookUrl: { type: ['string', 'null'], title: 'webhookUrl (a URL or null)', description: WEBHOOK_URL },
  ...numbers,
} as const;

/** Keys that are not named would be dropped; these pass, for the domain to refuse them by name. */
export const policyChanges = {
  type: 'object',
  properties: settings,
  patternProperties: { [`^(?!(?:${Object.keys(settings).join('|')})$)`]: {} },
} as const;

export const policyBody = object({ policy: object(settings) });

export const testBody = object({}, { webhookUrl: { ...settings.webhookUrl, maxLength: 2048 } });

export const testOutcome = object({
  ok: { const: true },
  sentAt: instant,
  targetUrl: text,
  status: { ...integer, description: "Of the receiver's answer" },
  attempts: integer,
});

const alert = object(
  {
    id: text,
    rule: { enum: ['error_threshold', 'no_logs'] },
    severity: { enum: ['critical', 'warning'] },
    state: {
      enum: ['active', 'repeated', 'resolved'],
      description: 'repeated: its trouble outlasted the cooldown, and another alert followed',
    },
    triggeredAt: instant,
    resolvedAt: { type: ['string', 'null'], format: 'date-time' },
    details: { type: 'object', description: 'What was counted, and the thresholds' },
    webhook: object(
      { delivered: { type: 'boolean' }, attempts: integer },
      { at: instant, status: integer, reason: text },
    ),
  },
  {
    resolution: { enum: ['recovered', 'disabled'] },
    repeatedBy: { ...text, description: 'The alert that followed' },
  },
);

export const alertPage = object(
  { alerts: { type: 'array', items: alert }, hasMore: { type: 'boolean' }, limit: integer },
  { nextCursor: { ...text, description: 'For the next page; only when there is more' } },
);
