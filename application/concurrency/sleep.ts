/** A wait that its signal cuts short. */
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after `ms`, or at once when the signal is aborted; never rejects. */
export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => {});
