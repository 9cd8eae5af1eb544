/**
 * Root hooks of every test run: report failures with what servers printed, and fail when something outlives its tests.
 */
import { inspect } from 'node:util';
import { eventually } from '@annals/engines/testing/condition.js';

/** Last lines of each server under test that a failure report includes. */
const REPORTED_LINES = 40;

const serverOutputs = new Set<readonly string[]>();

/** Includes the last of these lines in the report of each failure from now on; returns a function that stops that. */
export function reportOutput(lines: readonly string[]): () => void {
  serverOutputs.add(lines);
  return () => serverOutputs.delete(lines);
}

/** Resources that would outlive the tests. */
const PROCESSES_AND_SERVERS = ['ProcessWrap', 'TCPServerWrap'];
/** Milliseconds that the only process has to end by itself. */
const EXIT_GRACE_MS = 30_000;

const activeResources = () => process.getActiveResourcesInfo().filter((each) => each !== 'Timeout');

export const mochaHooks = {
  afterEach(this: Mocha.Context) {
    const failure = this.currentTest?.err as (Error & { actual?: unknown; expected?: unknown }) | undefined;
    if (!failure) return;
    const output = [...serverOutputs].flatMap((lines) => lines.slice(-REPORTED_LINES));
    const report = [failure.message, ...output].join('\n');
    failure.stack = failure.stack?.replace(failure.message, () => report);
    failure.message = report;
    // Parallel workers send failures as JSON; a failure that is no JSON would be lost with its test.
    for (const side of ['actual', 'expected'] as const)
      if (!isJson(failure[side])) failure[side] = inspect(failure[side], { depth: 10 });
  },
  /** Runs after each file in parallel mode, else after all files. */
  async afterAll() {
    const leaked = () => activeResources().filter((each) => PROCESSES_AND_SERVERS.includes(each));
    await eventually(() => leaked().length === 0)
      .catch(() => {
        throw new Error(`the tests left something running: ${leaked().join(', ')}`);
      })
      .finally(() => {
        // Mocha ends its workers; the only process must end by itself.
        if (process.env.MOCHA_WORKER_ID === undefined) expectExit();
      });
  },
};

/** False for BigInt, such as positions of the log. */
function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

function expectExit() {
  const timer = setTimeout(() => {
    process.stderr.write(`The tests left something running: ${activeResources().join(', ') || 'a timer'}\n`);
    process.exit(1);
  }, EXIT_GRACE_MS);
  timer.unref();
}
