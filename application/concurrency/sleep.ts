/** Sleep that a signal can cut short. */
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after `ms`, or as soon as the signal is aborted; never rejects. */
export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => {});
