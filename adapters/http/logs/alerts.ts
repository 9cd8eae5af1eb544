/** The routes of alerting. */
import type { AlertHistory } from '../../../application/logs/alerts/history.js';
import type { Alerts } from '../../../application/logs/alerts/manage.js';
import type { Trial } from '../../../application/logs/alerts/test-webhook.js';
import { isRejection } from '../../../domain/shared/index.js';
import { problem } from '../server/problem.js';
import { type Admit, type Route, route } from '../server/route.js';
import { listLimit } from '../server/validate.js';
import { notForProducers } from './admission.js';
import { alertPage, policyBody, policyChanges, testBody, testOutcome } from './alert-schemas.js';

/** Who was let in. */
export interface AlertCaller {
  /** Goes into the log with what they change. */
  readonly actor: string;
}

export interface AlertRouteDeps {
  readonly alerts: Alerts;
  readonly history: AlertHistory;
  readonly tryWebhook: Trial;
  /** Of every route here. */
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
    answers: { 200: { description: 'The policy in force', schema: policyBody } },
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
      'Changes what is named and leaves the rest. Effective at once, and evaluated at once. Alerting needs a ' +
      'webhookUrl to be enabled; null or an empty text clears the URL and disables alerting. An unknown key, a ' +
      'wrong type and a number out of its range are refused by name, and nothing is changed then.',
    body: policyChanges,
    examples: {
      'application/json': {
        enabled: true,
        webhookUrl: 'https://hooks.example.com/annals',
        errorThreshold: 20,
      },
    },
    answers: {
      200: { description: 'The policy now in force', schema: policyBody },
      400: { description: 'A setting is not known, or its value is not possible' },
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
    summary: 'Send a test to the webhook',
    description:
      'Posts what an alert would, with the rule `test`, to the given URL or the one of the policy; signed, and ' +
      'tried again, like an alert, but for no longer than 9 seconds in all: it is answered within 10 seconds.',
    body: testBody,
    examples: { 'application/json': { webhookUrl: 'https://hooks.example.com/annals' } },
    answers: {
      200: { description: 'The receiver has taken it', schema: testOutcome },
      400: { description: 'There is no URL, or it must not be called' },
      502: { description: 'It could not be delivered, and why' },
    },
    handle: ({ body, context }, { actor }) => ({
      async lasting() {
        const tried = await tryWebhook(body, context(actor, actor));
        if (isRejection(tried)) return tried;
        const { outcome, sentAt, targetUrl } = tried;
        if (!outcome.delivered) return problem(502, `The webhook was not delivered: ${outcome.reason}`);
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
        cursor: { type: 'string', description: 'The `nextCursor` of the page before' },
      },
    },
    answers: { 200: { description: 'A page of alerts', schema: alertPage } },
    async handle({ query, ifPosition }) {
      const { limit, cursor } = query;
      const page = await history({
        limit,
        ...(cursor === undefined ? {} : { cursor }),
        ...(ifPosition === undefined ? {} : { seen: ifPosition }),
      });
      if (isRejection(page)) return page;
      return { status: 200, ...page };
    },
  });

  return [read, change, test, list].map(notForProducers);
}
