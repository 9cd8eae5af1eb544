/** Request and response schemas of the alert routes. */
import { LIMITS } from '../../../domain/logs/alert-events.js';
import { object } from '../../../domain/shared/index.js';

const text = { type: 'string' } as const;
const instant = { type: 'string', format: 'date-time' } as const;
const integer = { type: 'integer' } as const;

const DESCRIPTIONS: { readonly [setting in keyof typeof LIMITS]: string } = {
  intervalMs: 'Milliseconds between two evaluations of the rules',
  windowMinutes: 'Time window of the rule error_threshold',
  errorThreshold: 'Number of records of level ERROR or FATAL in the window that raises an alert',
  noLogsThresholdMinutes: 'Minutes without any record that raise an alert; 0 disables the rule',
  cooldownMs: 'Minimum time between two alerts of a rule',
  webhookTimeoutMs: 'Timeout of one delivery attempt',
  webhookRetryAttempts: 'Attempts after the first',
  webhookBackoffMs: 'Delay before the first retry; doubled for each further one',
};

const WEBHOOK_URL = 'http or https URL that receives alerts; private addresses may not be allowed';

/** Titles are part of validation messages. */
const numbers = Object.fromEntries(
  Object.entries(LIMITS).map(([key, { initial, min, max }]) => [
    key,
    {
      type: 'integer' as const,
      minimum: min,
      maximum: max,
      title: `${key} (a whole number from ${min} to ${max})`,
      description: `${DESCRIPTIONS[key as keyof typeof LIMITS]} (default ${initial})`,
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

/** Unknown keys would be dropped; these pass validation, so that the domain can reject them by name. */
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
  status: { ...integer, description: "HTTP status of the receiver's response" },
  attempts: integer,
});

const alert = object(
  {
    id: text,
    rule: { enum: ['error_threshold', 'no_logs'] },
    severity: { enum: ['critical', 'warning'] },
    state: {
      enum: ['active', 'repeated', 'resolved'],
      description: 'repeated: the problem outlasted the cooldown, so another alert was raised',
    },
    triggeredAt: instant,
    resolvedAt: { type: ['string', 'null'], format: 'date-time' },
    details: { type: 'object', description: 'Counts and thresholds' },
    webhook: object(
      { delivered: { type: 'boolean' }, attempts: integer },
      { at: instant, status: integer, reason: text },
    ),
  },
  {
    resolution: { enum: ['recovered', 'disabled'] },
    repeatedBy: { ...text, description: 'Id of the next alert' },
  },
);

export const alertPage = object(
  { alerts: { type: 'array', items: alert }, hasMore: { type: 'boolean' }, limit: integer },
  { nextCursor: { ...text, description: 'Cursor of the next page, if any' } },
);
