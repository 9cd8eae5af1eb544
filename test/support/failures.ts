/**
 * Failures that can be told, with what servers have printed: files that run side by side tell theirs as JSON, and one
 * that has no JSON was told of no test.
 */
import { inspect } from 'node:util';
import { lastPrinted } from './printed.js';

export const mochaHooks = {
  afterEach(this: Mocha.Context) {
    const failure = this.currentTest?.err as (Error & { actual?: unknown; expected?: unknown }) | undefined;
    if (!failure) return;
    const lines = lastPrinted();
    const told = [failure.message, ...lines].join('\n');
    failure.stack = failure.stack?.replace(failure.message, () => told);
    failure.message = told;
    for (const side of ['actual', 'expected'] as const)
      if (!isJson(failure[side])) failure[side] = inspect(failure[side], { depth: 10 });
  },
};

/** No position of the log is. */
function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}
