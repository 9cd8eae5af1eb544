/** Delivers signed messages to webhooks, with retries, and returns the outcome. */
import { createHmac } from 'node:crypto';
import { sleep } from '../../../application/concurrency/index.js';
import type { WebhookOutcome, WebhookRequest, Webhooks } from '../../../application/ports/index.js';
import { type Answer, post } from './post.js';
import { systemResolve, TargetRefused, type TargetRules, targetOf } from './target.js';

export interface WebhookOptions extends Partial<TargetRules> {
  readonly allowPrivate: boolean;
  readonly secret: string | undefined;
  readonly userAgent: string;
  readonly pause?: typeof sleep;
}

interface Failure {
  readonly reason: string;
  readonly status?: number;
  readonly final: boolean;
  /** Delay the receiver asks for, ms. */
  readonly waitMs?: number | undefined;
}

const MAX_DELAY_MS = 60_000;
const REFUSAL_LOOKUP_MS = 2000;

export function createWebhooks({ secret, userAgent, pause = sleep, ...rest }: WebhookOptions): Webhooks {
  const rules: TargetRules = { resolve: systemResolve, ...rest };

  /** Returns why this URL must not be called; undefined if it may be, or its name cannot be resolved now. */
  async function refusal(url: string): Promise<string | undefined> {
    const done = new AbortController();
    const checked = targetOf(url, rules).then(
      () => undefined,
      (error) => (error instanceof TargetRefused ? error.message : undefined),
    );
    const timeout = pause(REFUSAL_LOOKUP_MS, done.signal).then(() => undefined);
    return Promise.race([checked, timeout]).finally(() => done.abort());
  }

  async function deliver(request: WebhookRequest): Promise<WebhookOutcome> {
    const { retries, backoffMs, deadlineMs = Number.POSITIVE_INFINITY, signal } = request;
    const deadline = performance.now() + deadlineMs;
    for (let attempts = 1; ; attempts++) {
      const timeoutMs = Math.max(1, Math.min(request.timeoutMs, deadline - performance.now()));
      const outcome = await attempt({ ...request, timeoutMs: Math.ceil(timeoutMs) });
      if ('answered' in outcome) return { delivered: true, status: outcome.answered, attempts };
      signal.throwIfAborted();
      const { final, waitMs = 0, ...failure } = outcome;
      const backoff = backoffMs * 2 ** (attempts - 1) * (1 + Math.random() / 4);
      const wait = Math.min(Math.max(backoff, waitMs), MAX_DELAY_MS);
      const exceedsDeadline = performance.now() + wait > deadline;
      if (final || exceedsDeadline || attempts > retries) return { delivered: false, ...failure, attempts };
      await pause(wait, signal);
      signal.throwIfAborted();
    }
  }

  async function attempt(request: WebhookRequest): Promise<{ answered: number } | Failure> {
    const { url, payload, deliveryId, traceparent, timeoutMs } = request;
    const body = JSON.stringify(payload);
    const timeout = AbortSignal.timeout(timeoutMs);
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': userAgent,
      'X-Annals-Delivery': deliveryId,
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(secret ? { 'X-Annals-Signature': signatureOf(secret, body, Math.floor(Date.now() / 1000)) } : {}),
    };
    try {
      const signal = AbortSignal.any([request.signal, timeout]);
      const answer = await post(rules, { url, body, headers, signal });
      return answer.status >= 200 && answer.status < 300 ? { answered: answer.status } : failureOf(answer);
    } catch (error) {
      if (timeout.aborted) return { reason: `the receiver did not answer within ${timeoutMs} ms`, final: false };
      if (error instanceof TargetRefused) return { reason: `the URL is refused: ${error.message}`, final: true };
      return { reason: describeError(error), final: false };
    }
  }

  return { refusal, deliver };
}

/** Lets receivers verify the sender and reject old messages: `t=<Unix s>,v1=<hex HMAC-SHA256 of "<t>.<body>">`. */
function signatureOf(secret: string, body: string, seconds: number): string {
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${digest}`;
}

function failureOf({ status, retryAfter }: Answer): Failure {
  const redirect = status >= 300 && status < 400;
  const reason = `the receiver answered ${status}${redirect ? ', a redirect, which is not followed' : ''}`;
  const canRetry = status === 408 || status === 429 || status >= 500;
  const waitMs = canRetry && retryAfter !== undefined ? parseRetryAfter(retryAfter) : undefined;
  return { reason, status, final: !canRetry, waitMs };
}

/** Parses `Retry-After`: seconds or a date (RFC 9110, section 10.2.3) to ms from now; undefined if invalid. */
function parseRetryAfter(retryAfter: string): number | undefined {
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const until = Date.parse(retryAfter);
  return Number.isNaN(until) ? undefined : Math.max(0, until - Date.now());
}

const DESCRIPTIONS: { readonly [code: string]: string } = {
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name could not be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before an answer',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  HPE_HEADER_OVERFLOW: 'the answer is too long',
};

/** Describes a network error by its code; its message may contain addresses. */
function describeError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (DESCRIPTIONS[code]) return DESCRIPTIONS[code];
  if (/CERT|SSL|TLS/.test(code)) return `the secure connection failed (${code})`;
  if (code.startsWith('HPE_')) return 'the answer is not HTTP';
  return code ? `the connection failed (${code})` : 'the connection failed';
}
