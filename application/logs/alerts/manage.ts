/** Reads and changes the alert policy, and reports the state of alerting. */
import { alertStream } from '../../../domain/logs/alert.js';
import { ALERT_POLICY_STREAM, RULES } from '../../../domain/logs/alert-events.js';
import type { ChangeAlertPolicy } from '../../../domain/logs/alert-policy.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import { sleep } from '../../concurrency/index.js';
import type { CommandContext, Webhooks } from '../../ports/index.js';
import { alertAggregate, alertPolicyAggregate, currentAlertPolicy } from './aggregates.js';

export interface AlertPorts extends Pick<KernelPorts, 'handle' | 'aggregates' | 'vault' | 'logger'> {
  readonly webhooks: Pick<Webhooks, 'refusal'>;
  readonly evaluate: () => Promise<unknown>;
}

/** Milliseconds a policy change waits for its first evaluation before it is answered. */
const EVALUATION_PATIENCE_MS = 1000;

export type Alerts = ReturnType<typeof createAlerts>;

export function createAlerts({ handle, aggregates, vault, webhooks, evaluate, logger }: AlertPorts) {
  async function policy() {
    const { state, position } = await currentAlertPolicy(aggregates);
    return { policy: state, position };
  }

  async function change(changes: ChangeAlertPolicy['changes'], context: CommandContext) {
    const { webhookUrl: url } = changes;
    const refusal = typeof url === 'string' && url.trim() ? await webhooks.refusal(url) : undefined;
    await vault.create(ALERT_POLICY_STREAM);
    const alwaysRecord = context.fingerprint !== undefined;
    const command = { changes, alwaysRecord, ...(refusal === undefined ? {} : { refusedTarget: refusal }) };
    const outcome = await handle(
      alertPolicyAggregate,
      ALERT_POLICY_STREAM,
      { type: 'ChangeAlertPolicy', ...command },
      context,
    );
    if (isRejection(outcome)) return outcome;
    await evaluateSoon();
    return { policy: await outcome.state(), position: outcome.position };
  }

  async function evaluateSoon() {
    const timeout = new AbortController();
    const evaluation = evaluate().catch((error) => logger.warn({ err: error }, 'alert rules could not be evaluated'));
    await Promise.race([evaluation, sleep(EVALUATION_PATIENCE_MS, timeout.signal)]);
    timeout.abort();
  }

  /** Data for `/health`: no secrets, and cached aggregates where possible. */
  async function health() {
    const { state: current } = await aggregates.load(alertPolicyAggregate, ALERT_POLICY_STREAM);
    const rules = await Promise.all(
      RULES.map(async (rule) => ({ rule, ...(await aggregates.load(alertAggregate, alertStream(rule))).state })),
    );
    return {
      alerting: {
        enabled: current.enabled,
        active: rules.filter(({ active }) => active !== undefined).map(({ rule }) => rule),
        undelivered: rules.reduce((sum, { undelivered }) => sum + undelivered.length, 0),
      },
      alertPolicy: { ...current, webhookUrl: current.webhookUrl === null ? null : '[configured]' },
    };
  }

  return { policy, change, health };
}
