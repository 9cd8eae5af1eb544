/** Looks at the rules of the alert policy: on one node by the clock, and on any node the moment the policy changes. */
import { alertStream } from '../../../domain/logs/alert.js';
import { RULES } from '../../../domain/logs/alert-events.js';
import type { AlertPolicy } from '../../../domain/logs/alert-policy.js';
import { type Counted, verdicts, windowOf } from '../../../domain/logs/alert-rules.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { AggregateStore, HandleCommand } from '../../command/index.js';
import { sleep } from '../../concurrency/index.js';
import type { Clock, CommandContext, Derivation } from '../../ports/index.js';
import type { RecordCounts } from '../ports.js';
import { alertAggregate, currentAlertPolicy } from './aggregates.js';

export interface EvaluationPorts {
  readonly handle: HandleCommand;
  readonly streams: AggregateStore;
  readonly counts: RecordCounts;
  readonly derivation: Derivation;
  readonly clock: Clock;
  readonly context: (actor: string) => CommandContext;
}

export interface Evaluated {
  readonly policy: AlertPolicy;
  /** Of the policy's stream. */
  readonly revision: number;
}

/** How soon a policy that another node changed is noticed. */
const POLICY_POLL_MS = 1000;

export function createEvaluation(ports: EvaluationPorts) {
  const { handle, streams, counts, derivation, clock, context } = ports;

  /** Any number of nodes may do this at once: the streams of the rules keep to one alert per cooldown. */
  async function evaluate(): Promise<Evaluated> {
    const { state: policy, revision } = await currentAlertPolicy(streams);
    const counted = await count(counts, policy, clock.now());
    for (const rule of RULES) {
      const stream = alertStream(rule);
      await streams.reload(alertAggregate, stream);
      const by = context('logs.alerts');
      const outcome = await handle(
        alertAggregate,
        stream,
        {
          type: 'JudgeRule',
          rule,
          verdict: verdicts[rule](policy, counted),
          at: counted.now,
          cooldownMs: policy.cooldownMs,
          alertId: derivation.id('logs.alert', rule, by.commandId),
        },
        by,
      );
      if (isRejection(outcome)) throw new Error(outcome.rejected);
    }
    return { policy, revision };
  }

  /** Evaluates every `intervalMs` of the policy, and whenever that changes, until the signal. */
  async function watch(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const { policy, revision } = await evaluate();
      const due = performance.now() + policy.intervalMs;
      for (let left = policy.intervalMs; left > 0 && !stop.aborted; left = due - performance.now()) {
        await sleep(Math.min(left, POLICY_POLL_MS), stop);
        if ((await currentAlertPolicy(streams)).revision !== revision) break;
      }
    }
  }

  return { evaluate, watch };
}

/** Asks for no more than the policy needs. */
async function count(counts: RecordCounts, policy: AlertPolicy, now: number): Promise<Counted> {
  if (!policy.enabled) return { now };
  const { from, to } = windowOf(policy, now);
  const [errors, lastRecordAt] = await Promise.all([
    counts.errorsBetween(from, to),
    policy.noLogsThresholdMinutes > 0 ? counts.lastRecordAt() : undefined,
  ]);
  return { now, errors, ...(lastRecordAt === undefined ? {} : { lastRecordAt }) };
}
