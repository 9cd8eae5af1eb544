/** Requests reports of many sites, a few at a time, so that one page does not occupy the service. */
import { api } from '../api.js';
import type { Report } from '../contract.js';
import type { Period } from '../period.js';

const MAX_CONCURRENT = 3;

let running = 0;
const waiting: (() => void)[] = [];

async function limited<Result>(run: () => Promise<Result>): Promise<Result> {
  if (running >= MAX_CONCURRENT) await new Promise<void>((resolve) => waiting.push(resolve));
  running++;
  try {
    return await run();
  } finally {
    running--;
    waiting.shift()?.();
  }
}

/** Rejects with the abort when it is aborted. */
export const overviewReport = (site: string, period: Period, signal: AbortSignal): Promise<Report> =>
  limited(() => {
    signal.throwIfAborted();
    return api.report(site, period, { signal, limit: 1 });
  });
