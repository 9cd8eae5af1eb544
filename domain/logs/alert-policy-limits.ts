/** Defaults and limits of the alert policy's numbers. */

/** Initial value and range of each number in the policy. */
export const LIMITS = {
  intervalMs: { initial: 30_000, min: 1000, max: 86_400_000 },
  windowMinutes: { initial: 5, min: 1, max: 43_200 },
  errorThreshold: { initial: 20, min: 1, max: 1_000_000_000 },
  /** 0 disables the rule. */
  noLogsThresholdMinutes: { initial: 0, min: 0, max: 43_200 },
  cooldownMs: { initial: 300_000, min: 0, max: 2_592_000_000 },
  webhookTimeoutMs: { initial: 5000, min: 10, max: 60_000 },
  webhookRetryAttempts: { initial: 3, min: 0, max: 10 },
  webhookBackoffMs: { initial: 250, min: 0, max: 60_000 },
} as const;

export type NumberSetting = keyof typeof LIMITS;
