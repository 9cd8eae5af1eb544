/** Tries the webhook out for a person: like an alert, but of no rule, and answered with what became of it. */
import { LRUCache } from 'lru-cache';
import type { Rejection } from '../../../domain/shared/index.js';
import { type AggregateStore, keyReused } from '../../command/index.js';
import type { Clock, CommandContext, WebhookOutcome, Webhooks } from '../../ports/index.js';
import { currentAlertPolicy } from './aggregates.js';
import { alertPayload } from './deliver.js';

export interface TrialPorts {
  readonly streams: AggregateStore;
  readonly webhooks: Webhooks;
  readonly clock: Clock;
  readonly serviceUrl: () => string;
}

export interface TrialAsked {
  /** Instead of the policy's. */
  readonly webhookUrl?: string | null;
}

export interface Tried {
  readonly outcome: WebhookOutcome;
  /** ISO 8601. */
  readonly sentAt: string;
  readonly targetUrl: string;
}

/** For all of a trial, retries included: it is answered within 10 s. */
const TRIAL_MS = 9000;
/** Left to the delivery even where the policy was slow to read. */
const LEAST_DELIVERY_MS = 1000;
/** It leaves no trace in the log: that it was sent is remembered here, for as long as somebody may ask again. */
const REMEMBERED = { max: 1000, ttl: 600_000 };

/** Each holds a connection for as long as its receiver likes, also when its caller has gone. */
const MOST_AT_ONCE = 5;
const TOO_MANY: Rejection = {
  rejected: 'logs/too-many-trials',
  kind: 'limit',
  detail: `No more than ${MOST_AT_ONCE} tests of a webhook at once`,
  retryAfterMs: 5000,
};

interface Remembered {
  readonly fingerprint: string;
  readonly tried: Promise<Tried | Rejection>;
}

/** A keyed request that comes again is answered what it was answered, and nothing is sent. */
export function createTrial({ streams, webhooks, clock, serviceUrl }: TrialPorts) {
  const remembered = new LRUCache<string, Remembered>(REMEMBERED);
  let underWay = 0;

  return (asked: TrialAsked, { commandId, fingerprint = '' }: CommandContext): Promise<Tried | Rejection> => {
    const earlier = remembered.get(commandId);
    if (earlier) return earlier.fingerprint === fingerprint ? earlier.tried : Promise.resolve(keyReused('logs'));
    if (underWay === MOST_AT_ONCE) return Promise.resolve(TOO_MANY);
    underWay++;
    const tried = send(asked, commandId).finally(() => underWay--);
    remembered.set(commandId, { fingerprint, tried });
    // What was not even tried may be tried again.
    tried.catch(() => remembered.delete(commandId));
    return tried;
  };

  async function send({ webhookUrl }: TrialAsked, deliveryId: string): Promise<Tried | Rejection> {
    const deadline = performance.now() + TRIAL_MS;
    const { state: policy } = await currentAlertPolicy(streams);
    const url = webhookUrl?.trim() || policy.webhookUrl;
    if (!url) return invalid('There is no webhookUrl: give one, or set it in the alert policy');
    const refusal = await webhooks.refusal(url);
    if (refusal) return invalid(`webhookUrl is refused: ${refusal}`);
    const raisedAt = clock.now();
    const details = { message: 'A test of the alert webhook' };
    const outcome = await webhooks.deliver({
      url,
      payload: alertPayload(serviceUrl(), { rule: 'test', severity: 'info', raisedAt, details }),
      deliveryId,
      timeoutMs: policy.webhookTimeoutMs,
      retries: policy.webhookRetryAttempts,
      backoffMs: policy.webhookBackoffMs,
      deadlineMs: Math.max(LEAST_DELIVERY_MS, deadline - performance.now()),
      signal: new AbortController().signal,
    });
    return { outcome, sentAt: new Date(raisedAt).toISOString(), targetUrl: url };
  }
}

export type Trial = ReturnType<typeof createTrial>;

const invalid = (detail: string): Rejection => ({
  rejected: 'logs/invalid-webhook-url',
  kind: 'invalid',
  detail,
});
