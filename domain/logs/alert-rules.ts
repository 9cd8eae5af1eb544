/** Evaluates the rules of the alert policy from counts. */
import type { Rule, Verdict } from './alert.js';
import type { AlertPolicy } from './alert-policy.js';

const MINUTE_MS = 60_000;

/** Input of the rules; undefined where the policy does not need it. */
export interface RuleCounts {
  readonly now: number;
  /** Records of level ERROR or FATAL within the policy's window. */
  readonly errors?: number;
  /** When the newest record was received, Unix ms; undefined when there is none. */
  readonly lastRecordAt?: number | undefined;
}

const OFF: Verdict = { breached: false, reason: 'disabled' };
const RECOVERED: Verdict = { breached: false, reason: 'recovered' };

export const windowOf = ({ windowMinutes }: AlertPolicy, now: number) => ({
  from: now - windowMinutes * MINUTE_MS,
  to: now,
});

export const verdicts: { readonly [rule in Rule]: (policy: AlertPolicy, counts: RuleCounts) => Verdict } = {
  error_threshold({ enabled, errorThreshold, windowMinutes }, { errors = 0 }) {
    if (!enabled) return OFF;
    if (errors < errorThreshold) return RECOVERED;
    return {
      breached: true,
      severity: 'critical',
      details: { errorCount: errors, threshold: errorThreshold, windowMinutes },
    };
  },

  no_logs({ enabled, noLogsThresholdMinutes: thresholdMinutes }, { now, lastRecordAt }) {
    if (!enabled || thresholdMinutes === 0) return OFF;
    if (lastRecordAt !== undefined && now - lastRecordAt < thresholdMinutes * MINUTE_MS) return RECOVERED;
    return {
      breached: true,
      severity: 'warning',
      details: {
        thresholdMinutes,
        lastRecordAt: lastRecordAt === undefined ? null : new Date(lastRecordAt).toISOString(),
      },
    };
  },
};
