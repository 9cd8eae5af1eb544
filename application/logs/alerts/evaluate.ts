/** Evaluates the alert rules: periodically on one node, and on any node when the policy changes. */
import { alertStream } from '../../../domain/logs/alert.js';
import { ALERT_POLICY_STREAM, RULES } from '../../../domain/logs/alert-events.js';
import type { AlertPolicy } from '../../../domain/logs/alert-policy.js';
import { type RuleCounts, verdicts, windowOf } from '../../../domain/logs/alert-rules.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { AggregateStore, HandleCommand } from '../../command/index.js';
import { sleep } from '../../concurrency/index.js';
import type { Clock, CommandContext, Derivation } from '../../ports/index.js';
import { alertAggregate, alertPolicyAggregate, currentAlertPolicy } from './aggregates.js';

export interface RecordCounts {
  /** Number of records of level ERROR or FATAL with an instant in `[from, to]`, Unix ms. */
  errorsBetween(from: number, to: number): Promise<number>;
  /** When the newest record was received, Unix ms; undefined when there is none. */
  lastRecordAt(): Promise<number | undefined>;
}

export interface EvaluationPorts {
  readonly handle: HandleCommand;
  readonly aggregates: AggregateStore;
  readonly counts: RecordCounts;
  readonly derivation: Derivation;
  readonly clock: Clock;
  readonly context: (actor: string) => CommandContext;
}

/** Milliseconds between checks for a policy changed on another node. */
const POLICY_POLL_MS = 1000;

export function createEvaluation(ports: EvaluationPorts) {
  const { handle, aggregates, counts: recordCounts, derivation, clock, context } = ports;

  /** Safe to run on several nodes concurrently: the rule streams enforce one alert per cooldown. */
  async function evaluate() {
    const { state: policy, revision } = await currentAlertPolicy(aggregates);
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
    return { policy, revision };
  }

  /** Evaluates every `intervalMs` of the policy, and on each policy change, until aborted. */
  async function watch(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const { policy, revision } = await evaluate();
      const due = performance.now() + policy.intervalMs;
      for (
        let remainingMs = policy.intervalMs;
        remainingMs > 0 && !stop.aborted;
        remainingMs = due - performance.now()
      ) {
        await sleep(Math.min(remainingMs, POLICY_POLL_MS), stop);
        // The live feed marks it as outdated, wherever it was changed.
        if ((await aggregates.load(alertPolicyAggregate, ALERT_POLICY_STREAM)).revision !== revision) break;
      }
    }
  }

  return { evaluate, watch };
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
