/** Sends a test alert to the webhook and returns the outcome. */
import { LRUCache } from 'lru-cache';
import type { Rejection } from '../../../domain/shared/index.js';
import { type AggregateStore, keyReused } from '../../command/index.js';
import type { Clock, CommandContext, WebhookOutcome, Webhooks } from '../../ports/index.js';
import { currentAlertPolicy } from './aggregates.js';
import { alertPayload } from './deliver.js';

export interface WebhookTestPorts {
  readonly aggregates: AggregateStore;
  readonly webhooks: Webhooks;
  readonly clock: Clock;
  readonly serviceUrl: () => string;
}

export interface WebhookTestRequest {
  /** Overrides the policy's URL. */
  readonly webhookUrl?: string | null;
}

export interface WebhookTestResult {
  readonly outcome: WebhookOutcome;
  readonly sentAt: string;
  readonly targetUrl: string;
}

/** Milliseconds for a test including retries: the request must be answered within 10 s. */
const TRIAL_MS = 9000;
/** Milliseconds a delivery gets at least, even if reading the policy was slow. */
const LEAST_DELIVERY_MS = 1000;
/** Tests are not in the event log, so repeated requests are recognised in memory, for 10 minutes. */
const RESULT_CACHE = { max: 1000, ttl: 600_000 };

/** Concurrent tests: each holds a connection as long as the receiver likes, even when the caller has gone. */
const MAX_CONCURRENT = 5;
const TOO_MANY: Rejection = {
  rejected: 'logs/too-many-trials',
  kind: 'limit',
  detail: `At most ${MAX_CONCURRENT} webhook tests can run concurrently; try again in 5 seconds`,
  retryAfterMs: 5000,
};

interface CachedResult {
  readonly fingerprint: string;
  readonly result: Promise<WebhookTestResult | Rejection>;
}

/** A repeated request with the same key gets the first outcome; nothing is sent again. */
export function createWebhookTester({ aggregates, webhooks, clock, serviceUrl }: WebhookTestPorts) {
  const results = new LRUCache<string, CachedResult>(RESULT_CACHE);
  let running = 0;

  return (
    request: WebhookTestRequest,
    { commandId, fingerprint = '', traceparent }: CommandContext,
  ): Promise<WebhookTestResult | Rejection> => {
    const cached = results.get(commandId);
    if (cached) return cached.fingerprint === fingerprint ? cached.result : Promise.resolve(keyReused('logs'));
    if (running === MAX_CONCURRENT) return Promise.resolve(TOO_MANY);
    running++;
    const result = send(request, commandId, traceparent).finally(() => running--);
    results.set(commandId, { fingerprint, result });
    // A test that failed before sending may be repeated.
    result.catch(() => results.delete(commandId));
    return result;
  };

  async function send(
    { webhookUrl }: WebhookTestRequest,
    deliveryId: string,
    traceparent: string | undefined,
  ): Promise<WebhookTestResult | Rejection> {
    const deadline = performance.now() + TRIAL_MS;
    const { state: policy } = await currentAlertPolicy(aggregates);
    const url = webhookUrl?.trim() || policy.webhookUrl;
    if (!url) return invalid('No webhook URL: send webhookUrl, or set it in the alert policy');
    const refusal = await webhooks.refusal(url);
    if (refusal) return invalid(`webhookUrl is not allowed: ${refusal}`);
    const raisedAt = clock.now();
    const details = { message: 'A test of the alert webhook' };
    const outcome = await webhooks.deliver({
      url,
      payload: alertPayload(serviceUrl(), { rule: 'test', severity: 'info', raisedAt, details }),
      deliveryId,
      ...(traceparent !== undefined && { traceparent }),
      timeoutMs: policy.webhookTimeoutMs,
      retries: policy.webhookRetryAttempts,
      backoffMs: policy.webhookBackoffMs,
      deadlineMs: Math.max(LEAST_DELIVERY_MS, deadline - performance.now()),
      signal: new AbortController().signal,
    });
    return { outcome, sentAt: new Date(raisedAt).toISOString(), targetUrl: url };
  }
}

export type WebhookTester = ReturnType<typeof createWebhookTester>;

const invalid = (detail: string): Rejection => ({
  rejected: 'logs/invalid-webhook-url',
  kind: 'invalid',
  detail,
});
