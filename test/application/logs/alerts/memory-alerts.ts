/** A node of alerting over a log in memory, with counts, webhook and clock controlled by the test. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { deliveryReaction } from '../../../../application/logs/alerts/deliver.js';
import { createEvaluation } from '../../../../application/logs/alerts/evaluate.js';
import { createAlerts } from '../../../../application/logs/alerts/manage.js';
import { createWebhookTester } from '../../../../application/logs/alerts/test-webhook.js';
import type { WebhookOutcome, WebhookRequest } from '../../../../application/ports/webhooks.js';
import { alertStream } from '../../../../domain/logs/alert.js';
import { alertEvents } from '../../../../domain/logs/alert-events.js';
import { taken } from '../../../support/memory-ingest.js';
import { memoryKernel, memoryWorld } from '../../../support/memory-kernel.js';
import { context } from '../../../support/toy-service.js';

export const NOON = Date.UTC(2026, 10, 21, 12);
const catalogs = [{ service: 'logs', events: alertEvents }];

export function memoryAlerts(world = memoryWorld()) {
  const kernel = memoryKernel(world, catalogs);
  const clock = { now: () => it.now };
  const it = {
    now: NOON,
    errors: 0,
    lastRecordAt: undefined as number | undefined,
    windows: [] as [number, number][],
    calls: 0,
    sent: [] as WebhookRequest[],
    outcome: { delivered: true, status: 204, attempts: 1 } as WebhookOutcome,
    refusals: [] as string[],
    refusal: undefined as string | undefined,
    /** Until then no receiver answers. */
    answered: Promise.resolve(),
  };
  const webhooks = {
    async refusal(url: string) {
      it.refusals.push(url);
      return it.refusal;
    },
    async deliver(request: WebhookRequest) {
      it.sent.push(request);
      await it.answered;
      return it.outcome;
    },
  };
  const counts = {
    async errorsBetween(from: number, to: number) {
      it.windows.push([from, to]);
      return it.errors;
    },
    async lastRecordAt() {
      it.calls++;
      return it.lastRecordAt;
    },
  };
  const stop = new AbortController();
  const serviceUrl = () => 'https://logs.example.com';
  const ports = { ...kernel, clock, webhooks, counts, serviceUrl, logger: silentLogger, signal: stop.signal };
  const { evaluate, watch, onEvent } = createEvaluation({ ...ports, context: kernel.systemContext });
  const alerts = createAlerts({ ...ports, evaluate });
  const reaction = deliveryReaction(ports);
  const read = async (rule: 'error_threshold' | 'no_logs') => {
    const found = await kernel.log.read(alertStream(rule));
    return typeof found === 'string' ? [] : found;
  };
  return {
    ...kernel,
    it,
    stop,
    evaluate,
    watch,
    alerts,
    reaction,
    trial: createWebhookTester(ports),
    read,
    types: async (rule: 'error_threshold' | 'no_logs') => (await read(rule)).map(({ type }) => type),
    async set(changes: { readonly [key: string]: unknown }, how = context()) {
      const result = taken(await alerts.change(changes, how));
      // As the live feed does.
      onEvent({ type: 'AlertPolicyChanged', data: {} });
      return result;
    },
  };
}
