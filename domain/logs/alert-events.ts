/** What the log may hold about alerts; the service's catalog takes these in. */
import type { Catalog, JsonSchema } from '../shared/catalog.js';
import { RULES } from './alert.js';
import { LIMITS, POLICY_STREAM } from './policy.js';

const text = { type: 'string' } as const;
const integer = { type: 'integer' } as const;
const instant = { type: 'integer', minimum: 0 } as const;
const rule = { enum: RULES } as const;

const object = (
  properties: { [name: string]: JsonSchema },
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
  additionalProperties: false,
});

const delivery = { rule, alertId: text, at: instant, attempts: instant, status: integer };

export const alertEvents: Catalog['events'] = {
  AlertPolicyChanged: {
    versions: [
      {
        schema: object({
          settings: object(
            {
              enabled: { type: 'boolean' },
              ...Object.fromEntries(Object.keys(LIMITS).map((key) => [key, integer])),
            },
            ['enabled', ...Object.keys(LIMITS)],
          ),
          secret: object({ webhookUrl: { type: ['string', 'null'] } }, ['webhookUrl']),
        }),
      },
    ],
    sealed: { subject: () => POLICY_STREAM, erased: { webhookUrl: null } },
  },
  AlertRaised: {
    versions: [
      {
        schema: object(
          {
            rule,
            alertId: text,
            severity: { enum: ['critical', 'warning'] },
            raisedAt: instant,
            details: {
              type: 'object',
              additionalProperties: { type: ['number', 'string', 'null'] },
            },
            repeats: text,
          },
          ['repeats'],
        ),
      },
    ],
  },
  AlertResolved: {
    versions: [
      {
        schema: object({
          rule,
          alertId: text,
          resolvedAt: instant,
          reason: { enum: ['recovered', 'disabled'] },
        }),
      },
    ],
  },
  WebhookDelivered: { versions: [{ schema: object(delivery, ['status']) }] },
  WebhookFailed: { versions: [{ schema: object({ ...delivery, reason: text }, ['status']) }] },
};
