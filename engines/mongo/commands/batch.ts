/** Runs the statements of a write command, each exactly once, with many of them in one transaction. */
import { decode } from '../bson/encode.js';
import { CommandError } from '../errors.js';
import type { Attempt, Kind } from '../storage/sessions.js';
import type { Arguments } from './arguments.js';
import type { Engine } from './engine.js';
import type { Request } from './request.js';
import type { Deadline } from './search.js';

/** A statement of a command. Its result is stored as bytes to answer retries. */
export interface Statement {
  /** Runs inside the current transaction, or returns 'slow' if that would take too long. */
  runNow(): Buffer | 'slow';
  /** Runs in several transactions. What a retry must not repeat goes through `once`. */
  runInSteps(once: Once): Promise<Buffer>;
}

/** Runs a function inside a transaction, or returns the result stored by an earlier run of the command. */
export type Once = (run: () => Buffer) => Buffer;

export interface WriteError {
  readonly index: number;
  readonly error: CommandError;
}

/** Maximum milliseconds a batch occupies one transaction. */
const SLICE_MS = 12;

/**
 * Runs a batch. Returns the results by statement, with gaps for failed ones, and the errors. An ordered batch ends at
 * its first error; every batch ends on timeout or disconnect.
 */
export async function runBatch(
  engine: Engine,
  request: Request,
  args: Arguments,
  statements: readonly Statement[],
  deadline: Deadline,
): Promise<{ results: (Buffer | undefined)[]; errors: WriteError[] }> {
  const ordered = args.flag('ordered', true);
  const results: (Buffer | undefined)[] = [];
  const errors: WriteError[] = [];
  let next = 0;
  const attempt = attemptOf(engine, request);
  const fail = (index: number, error: unknown): void => {
    if (!(error instanceof CommandError) || error.isInterruption) throw error;
    errors.push({ index, error });
    next = ordered ? statements.length : index + 1;
  };
  while (next < statements.length) {
    let slow: Statement | undefined;
    deadline.check();
    await engine.catalog.store.write(() => {
      // Finished statements are kept; `deadline.check` then throws in the loop.
      if (isExpired(deadline)) return true;
      attempt?.begin();
      const until = performance.now() + SLICE_MS;
      let written = false;
      slow = undefined;
      while (next < statements.length && performance.now() < until) {
        const index = next;
        try {
          const previous = attempt?.result(index);
          const result = previous ?? statements[index]!.runNow();
          if (result === 'slow') {
            slow = statements[index];
            break;
          }
          results[index] = result;
          next++;
          if (previous) continue;
          attempt?.add(index, result);
          written = true;
        } catch (error) {
          fail(index, error);
        }
      }
      if (written) attempt?.save();
      return slow !== undefined || next >= statements.length;
    });
    if (!slow) continue;
    const index = next;
    try {
      results[index] = await slow.runInSteps((run) => {
        attempt?.begin();
        const previous = attempt?.result(index);
        if (previous) return previous;
        const result = run();
        attempt?.add(index, result);
        attempt?.save();
        return result;
      });
      next++;
    } catch (error) {
      fail(index, error);
    }
  }
  return { results, errors };
}

function isExpired(deadline: Deadline): boolean {
  try {
    deadline.check();
    return false;
  } catch {
    return true;
  }
}

function attemptOf(engine: Engine, request: Request): Attempt | undefined {
  if (request.txnNumber === undefined) return undefined;
  return engine.sessions.attempt(request.session!, request.txnNumber, request.name as Kind);
}

/** The `writeErrors` member of an answer, if any. */
export function writeErrors(errors: readonly WriteError[]): object {
  if (errors.length === 0) return {};
  return {
    writeErrors: errors.map(({ index, error }) => ({
      index,
      code: error.code,
      ...duplicateOf(error),
      errmsg: error.message,
    })),
  };
}

/** Key pattern and value of a duplicate key error, as plain objects with exact types. */
export function duplicateOf(error: CommandError): object {
  if (!error.duplicate) return {};
  const { keyPattern, keyValue } = error.duplicate;
  return { keyPattern: decode(keyPattern), keyValue: decode(keyValue) };
}
