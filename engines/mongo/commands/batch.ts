/** Runs the statements of a write command: as many as possible in one transaction, each done once. */
import { decode } from '../bson/encode.js';
import { CommandError } from '../errors.js';
import type { Attempt, Kind } from '../storage/sessions.js';
import type { Arguments } from './arguments.js';
import type { Engine } from './engine.js';
import type { Request } from './request.js';
import type { Deadline } from './search.js';

/** A statement of a command; its result is kept as bytes, so that a retry can be answered with them. */
export interface Statement {
  /** Does it inside a transaction, or says that this would take too long. */
  now(): Buffer | 'slow';
  /** Does it in as many transactions as it takes; what a retry must not do again goes through `once`. */
  slowly(once: Once): Promise<Buffer>;
}

/** Does something inside a transaction, or gives the result of the same command sent before. */
export type Once = (make: () => Buffer) => Buffer;

export interface WriteError {
  readonly index: number;
  readonly error: CommandError;
}

/** How long a batch may keep one transaction. */
const TURN_MS = 12;

/** The results by statement, with gaps where it failed, and the errors. An ordered batch ends with its first, and any whose client has gone or whose time is up. */
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
      // What was done stays, and the loop tells why no more is.
      if (isOver(deadline)) return true;
      attempt?.begin();
      const until = performance.now() + TURN_MS;
      let written = false;
      slow = undefined;
      while (next < statements.length && performance.now() < until) {
        const index = next;
        try {
          const known = attempt?.result(index);
          const result = known ?? statements[index]!.now();
          if (result === 'slow') {
            slow = statements[index];
            break;
          }
          results[index] = result;
          next++;
          if (known) continue;
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
      results[index] = await slow.slowly((make) => {
        attempt?.begin();
        const known = attempt?.result(index);
        if (known) return known;
        const result = make();
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

function isOver(deadline: Deadline): boolean {
  try {
    deadline.check();
    return false;
  } catch {
    return true;
  }
}

export function attemptOf(engine: Engine, request: Request): Attempt | undefined {
  if (request.txnNumber === undefined) return undefined;
  const kind = request.name === 'findandmodify' ? 'findAndModify' : (request.name as Kind);
  return engine.sessions.attempt(request.session!, request.txnNumber, kind);
}

/** The `writeErrors` of an answer, or nothing. */
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

/** The key pattern and value of a duplicate key error, as plain objects with exact types. */
export function duplicateOf(error: CommandError): object {
  if (!error.duplicate) return {};
  const { keyPattern, keyValue } = error.duplicate;
  return { keyPattern: decode(keyPattern), keyValue: decode(keyValue) };
}
