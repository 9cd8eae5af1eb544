/** Evaluates the alert rules: periodically on one node, and on any node when the policy changes. */
import { alertStream } from '../../../domain/logs/alert.js';
import { RULES } from '../../../domain/logs/alert-events.js';
import type { AlertPolicy, AlertPolicyChanged } from '../../../domain/logs/alert-policy.js';
import { type RuleCounts, verdicts, windowOf } from '../../../domain/logs/alert-rules.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import { sleep } from '../../concurrency/index.js';
import { handleByType } from '../../subscription/index.js';
import { alertAggregate, currentAlertPolicy } from './aggregates.js';

export interface RecordCounts {
  /** Number of records of level ERROR or FATAL with an instant in `[from, to]`, Unix ms. */
  errorsBetween(from: number, to: number): Promise<number>;
  /** When the newest record was received, Unix ms; undefined when there is none. */
  lastRecordAt(): Promise<number | undefined>;
}

export interface EvaluationPorts
  extends Pick<KernelPorts, 'handle' | 'aggregates' | 'derivation' | 'clock' | 'context'> {
  readonly counts: RecordCounts;
}

export function createEvaluation(ports: EvaluationPorts) {
  const { handle, aggregates, counts: recordCounts, derivation, clock, context } = ports;
  /** Aborted when the policy has changed; then replaced. */
  let policyChange = new AbortController();

  /** Safe to run on several nodes concurrently: the rule streams enforce one alert per cooldown. */
  async function evaluate() {
    const { state: policy } = await currentAlertPolicy(aggregates);
    const counts = await count(recordCounts, policy, clock.now());
    for (const rule of RULES) {
      const stream = alertStream(rule);
      await aggregates.reload(alertAggregate, stream);
      const commandContext = context('logs.alerts');
      const outcome = await handle(
        alertAggregate,
        stream,
        {
          type: 'JudgeRule',
          rule,
          verdict: verdicts[rule](policy, counts),
          at: counts.now,
          cooldownMs: policy.cooldownMs,
          alertId: derivation.id('logs.alert', rule, commandContext.commandId),
        },
        commandContext,
      );
      if (isRejection(outcome)) throw new Error(outcome.rejected);
    }
    return policy;
  }

  /** Evaluates every `intervalMs` of the policy, and on each policy change, until aborted. */
  async function watch(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      // Taken first, so that a change during the evaluation causes another one.
      const { signal } = policyChange;
      const { intervalMs } = await evaluate();
      await sleep(intervalMs, AbortSignal.any([stop, signal]));
    }
  }

  return {
    evaluate,
    watch,
    /** Handles the events of the live feed, so that a change on any node is noticed. */
    onEvent: handleByType<AlertPolicyChanged>({
      AlertPolicyChanged() {
        policyChange.abort();
        policyChange = new AbortController();
      },
    }),
  };
}

async function count(counts: RecordCounts, policy: AlertPolicy, now: number): Promise<RuleCounts> {
  if (!policy.enabled) return { now };
  const { from, to } = windowOf(policy, now);
  const [errors, lastRecordAt] = await Promise.all([
    counts.errorsBetween(from, to),
    policy.noLogsThresholdMinutes > 0 ? counts.lastRecordAt() : undefined,
  ]);
  return { now, errors, lastRecordAt };
}
