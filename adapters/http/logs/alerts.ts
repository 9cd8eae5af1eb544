/** Routes of the alert policy and the alert history. */
import type { AlertHistory } from '../../../application/logs/alerts/history.js';
import type { Alerts } from '../../../application/logs/alerts/manage.js';
import type { WebhookTester } from '../../../application/logs/alerts/test-webhook.js';
import { isRejection } from '../../../domain/shared/index.js';
import { problem } from '../server/policy.js';
import { type Admit, type Route, route } from '../server/route.js';
import { listLimit } from '../server/validate.js';
import { withProducerRejection } from './admission.js';
import { alertPage, policyBody, policyChanges, testBody, testOutcome } from './alert-schemas.js';

export interface AlertCaller {
  readonly actor: string;
}

export interface AlertRouteDeps {
  readonly alerts: Alerts;
  readonly history: AlertHistory;
  readonly tryWebhook: WebhookTester;
  readonly admit: Admit<AlertCaller>;
  readonly security: readonly string[];
}

const TAGS = ['Alerts'];

export function alertRoutes({ alerts, history, tryWebhook, admit, security }: AlertRouteDeps): readonly Route[] {
  const common = { tags: TAGS, admit, security };

  const read = route({
    ...common,
    method: 'GET',
    path: '/api/alerts/config',
    summary: 'Read the alert policy',
    answers: { 200: { description: 'The current policy', schema: policyBody } },
    async handle() {
      const { policy, position } = await alerts.policy();
      return { status: 200, body: { policy }, position };
    },
  });

  const change = route({
    ...common,
    method: 'PUT',
    path: '/api/alerts/config',
    summary: 'Change the alert policy',
    description:
      'Changes the given settings only; effective and evaluated immediately. Alerting cannot be enabled without a ' +
      'webhookUrl; null or an empty string removes the URL and disables alerting. An unknown setting, a wrong type ' +
      'or a number out of range rejects the whole request.',
    body: policyChanges,
    examples: {
      'application/json': {
        enabled: true,
        webhookUrl: 'https://hooks.example.com/annals',
        errorThreshold: 20,
      },
    },
    answers: {
      200: { description: 'The changed policy', schema: policyBody },
      400: { description: 'Unknown setting or invalid value' },
    },
    async handle({ body, context }, { actor }) {
      const outcome = await alerts.change(body, context(actor, actor));
      if (isRejection(outcome)) return outcome;
      return { status: 200, body: { policy: outcome.policy }, position: outcome.position };
    },
  });

  const test = route({
    ...common,
    method: 'POST',
    path: '/api/alerts/test-webhook',
    summary: 'Send a test alert to the webhook',
    description:
      'Sends an alert with the rule `test` to the given URL or that of the policy, signed and retried like a real ' +
      'alert, but for at most 9 seconds; the response follows within 10 seconds.',
    body: testBody,
    examples: { 'application/json': { webhookUrl: 'https://hooks.example.com/annals' } },
    answers: {
      200: { description: 'The webhook accepted the test', schema: testOutcome },
      400: { description: 'No URL, or it is not allowed' },
      502: { description: 'The delivery failed; the error tells why' },
    },
    handle: ({ body, context }, { actor }) => ({
      async finish() {
        const result = await tryWebhook(body, context(actor, actor));
        if (isRejection(result)) return result;
        const { outcome, sentAt, targetUrl } = result;
        if (!outcome.delivered) return problem(502, `The webhook could not be delivered: ${outcome.reason}`);
        const { status, attempts } = outcome;
        return { status: 200, body: { ok: true, sentAt, targetUrl, status, attempts } };
      },
    }),
  });

  const list = route({
    ...common,
    method: 'GET',
    path: '/api/alerts/history',
    summary: 'List alerts, newest first',
    query: {
      type: 'object',
      properties: {
        limit: listLimit({ initial: 100, max: 1000 }),
        cursor: { type: 'string', description: '`nextCursor` of the previous page' },
      },
    },
    answers: { 200: { description: 'A page of alerts', schema: alertPage } },
    handle: ({ query: { limit, cursor }, ifPosition }) => history({ limit, cursor, seen: ifPosition }),
  });

  return [read, change, test, list].map(withProducerRejection);
}
