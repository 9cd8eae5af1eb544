/** The alert policy and the history of alerts, as the service has them. */
import { batch, signal } from '@preact/signals';
import type { Alert, AlertPage, AlertPolicy, WebhookTest } from '../contract.js';
import { http } from '../session/session.js';

export const policy = signal<AlertPolicy | undefined>(undefined);
export const alerts = signal<readonly Alert[] | undefined>(undefined);
export const failure = signal<unknown>(undefined);
export const hasOlder = signal(false);

const PAGE = 50;
let cursor: string | undefined;

export async function loadAlerts(): Promise<void> {
  failure.value = undefined;
  try {
    const [config, page] = await Promise.all([
      http.json<{ readonly policy: AlertPolicy }>('GET', 'api/alerts/config'),
      http.json<AlertPage>('GET', 'api/alerts/history', { query: { limit: PAGE } }),
    ]);
    cursor = page.nextCursor;
    batch(() => {
      policy.value = config.policy;
      alerts.value = page.alerts;
      hasOlder.value = page.hasMore;
    });
  } catch (error) {
    failure.value = error;
  }
}

/** Loads the newest alerts only; what is typed in a form stays. */
export async function refreshHistory(): Promise<void> {
  const page = await http
    .json<AlertPage>('GET', 'api/alerts/history', { query: { limit: PAGE } })
    .catch(() => undefined);
  if (!page) return;
  const newer = new Set(page.alerts.map(({ id }) => id));
  alerts.value = [...page.alerts, ...(alerts.value ?? []).filter(({ id }) => !newer.has(id))];
}

export async function loadOlder(): Promise<void> {
  const page = await http.json<AlertPage>('GET', 'api/alerts/history', { query: { limit: PAGE, cursor } });
  cursor = page.nextCursor;
  batch(() => {
    alerts.value = [...(alerts.value ?? []), ...page.alerts];
    hasOlder.value = page.hasMore;
  });
}

/** Changes the given settings; the service evaluates its rules at once. */
export async function changePolicy(changes: Partial<AlertPolicy>): Promise<void> {
  const answer = await http.json<{ readonly policy: AlertPolicy }>('PUT', 'api/alerts/config', { body: changes });
  policy.value = answer.policy;
  void refreshHistory();
}

/** Sends a test to the URL of the policy, or another one. Rejects with what the receiver did. */
export const testWebhook = (webhookUrl?: string): Promise<WebhookTest> =>
  http.json<WebhookTest>('POST', 'api/alerts/test-webhook', { body: webhookUrl === undefined ? {} : { webhookUrl } });
