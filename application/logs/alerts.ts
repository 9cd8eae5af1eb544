/** What people do with alerts: read and change the policy, try the webhook, and ask how things stand. */
import { LRUCache } from 'lru-cache';
import { alertStream, RULES } from '../../domain/logs/alert.js';
import { type AlertPolicy, type ChangeAlertPolicy, POLICY_STREAM } from '../../domain/logs/policy.js';
import { isRejection, type Rejection } from '../../domain/shared/decider.js';
import type { Handle } from '../handle.js';
import { pause } from '../pause.js';
import type { Clock, CommandContext, Log, Position, Vault } from '../ports.js';
import type { Streams } from '../streams.js';
import { alertKind, currentPolicy, policyKind } from './alert-kinds.js';
import { alertPayload } from './alerts-delivery.js';
import type { WebhookOutcome, Webhooks } from './ports.js';

export interface AlertPorts {
  readonly handle: Handle;
  readonly streams: Streams;
  readonly vault: Vault;
  readonly webhooks: Webhooks;
  readonly evaluate: () => Promise<unknown>;
  readonly clock: Clock;
  readonly logger: Log;
  /** Where people find this service; told to receivers. */
  readonly serviceUrl: () => string;
}

export interface PolicyRead {
  readonly policy: AlertPolicy;
  readonly position: Position;
}

export interface WebhookTested {
  readonly outcome: WebhookOutcome;
  readonly sentAt: string;
  readonly targetUrl: string;
}

export interface TestAsked {
  readonly webhookUrl?: string | null;
}

/** A change is answered when its first evaluation is through, but not much later than it was made. */
const EVALUATION_PATIENCE_MS = 1000;
/** A person waits for the outcome of a test, retries included. */
const TEST_PATIENCE_MS = 25_000;

/** A test leaves no trace in the log: that it was sent is remembered here, for as long as somebody may ask again. */
const TESTS = { max: 1000, ttl: 600_000 };

interface KeptTest {
  readonly fingerprint: string;
  readonly outcome: Promise<WebhookTested | Rejection>;
}

export type Alerts = ReturnType<typeof createAlerts>;

export function createAlerts(ports: AlertPorts) {
  const { handle, streams, vault, webhooks, evaluate, clock, logger, serviceUrl } = ports;
  const tests = new LRUCache<string, KeptTest>(TESTS);

  async function policy(): Promise<PolicyRead> {
    const { state, position } = await currentPolicy(streams);
    return { policy: state, position };
  }

  /** `changes` come unchecked; effective at once, and evaluated at once. */
  async function change(
    changes: ChangeAlertPolicy['changes'],
    context: CommandContext,
  ): Promise<PolicyRead | Rejection> {
    const refusedTarget = await refusal(changes.webhookUrl);
    await vault.create(POLICY_STREAM);
    const command: ChangeAlertPolicy = { type: 'ChangeAlertPolicy', changes, ...refusedTarget };
    const outcome = await handle(policyKind, POLICY_STREAM, command, context);
    if (isRejection(outcome)) return outcome;
    const evaluated = evaluate().catch((error) => logger.warn({ err: error }, 'the alert rules wait'));
    const late = new AbortController();
    await Promise.race([evaluated, pause(EVALUATION_PATIENCE_MS, late.signal)]);
    late.abort();
    return { policy: outcome.state, position: outcome.position };
  }

  async function refusal(url: unknown): Promise<{ refusedTarget?: string }> {
    if (typeof url !== 'string' || url.trim() === '') return {};
    const refusedTarget = await webhooks.refusal(url);
    return refusedTarget === undefined ? {} : { refusedTarget };
  }

  /** Sends a test to the given URL or the policy's; like an alert, but of no rule. */
  async function test(asked: TestAsked, context: CommandContext): Promise<WebhookTested | Rejection> {
    const { commandId, fingerprint = '' } = context;
    const earlier = tests.get(commandId);
    if (earlier) return earlier.fingerprint === fingerprint ? earlier.outcome : keyReused;
    const outcome = send(asked, commandId);
    tests.set(commandId, { fingerprint, outcome });
    return outcome;
  }

  async function send({ webhookUrl }: TestAsked, deliveryId: string): Promise<WebhookTested | Rejection> {
    const { state } = await currentPolicy(streams);
    const url = webhookUrl?.trim() || state.webhookUrl;
    if (!url) return invalid('There is no webhookUrl: give one, or set it in the alert policy');
    const { refusedTarget } = await refusal(url);
    if (refusedTarget) return invalid(`webhookUrl is refused: ${refusedTarget}`);
    const now = clock.now();
    const outcome = await webhooks.deliver({
      url,
      payload: alertPayload(serviceUrl(), {
        rule: 'test',
        severity: 'info',
        raisedAt: now,
        details: { message: 'A test of the alert webhook' },
      }),
      deliveryId,
      timeoutMs: state.webhookTimeoutMs,
      retries: state.webhookRetryAttempts,
      backoffMs: state.webhookBackoffMs,
      deadlineMs: TEST_PATIENCE_MS,
      signal: new AbortController().signal,
    });
    return { outcome, sentAt: new Date(now).toISOString(), targetUrl: url };
  }

  /** For `/health`: no secret, and no read of the log. */
  async function health() {
    const { state: current } = await streams.load(policyKind, POLICY_STREAM);
    const rules = await Promise.all(
      RULES.map(async (rule) => [rule, (await streams.load(alertKind, alertStream(rule))).state] as const),
    );
    const webhookUrl = current.webhookUrl === null ? null : '[configured]';
    return {
      alerting: {
        enabled: current.enabled,
        active: rules.filter(([, { active }]) => active !== undefined).map(([rule]) => rule),
        undelivered: rules.reduce((sum, [, { undelivered }]) => sum + undelivered.length, 0),
      },
      alertPolicy: { ...current, webhookUrl },
    };
  }

  return { policy, change, test, health };
}

const keyReused: Rejection = {
  rejected: 'logs/idempotency-key-reused',
  kind: 'conflict',
  detail: 'This Idempotency-Key was used before with another request',
};

const invalid = (detail: string): Rejection => ({
  rejected: 'logs/invalid-webhook-url',
  kind: 'invalid',
  detail,
});
