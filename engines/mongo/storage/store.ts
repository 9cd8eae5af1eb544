/** The lmdb environment: ordered bytes, and a queue of writes that share transactions and flushes. */
import { open, type RootDatabase } from 'lmdb';
import { DiskFull, type DiskSpace, watchDiskSpace } from '../../supervisor/disk-space.js';
import { checkLength } from '../../supervisor/lmdb-length-check.js';
import { verifyRange } from '../../supervisor/safe-range.js';
import {
  type CheckedFile,
  checkKind,
  RESTORE_HINT,
  StoreDamaged,
  watchStoreFile,
} from '../../supervisor/store-check.js';
import { CommandError } from '../errors.js';
import { isKey } from './layout.js';

/** Where a scan goes: from `low` (inclusive) to `high` (exclusive), or backwards; `after` continues behind a key. */
export interface KeyRange {
  readonly low: Buffer;
  readonly high: Buffer;
  readonly reverse?: boolean;
  readonly after?: Buffer | undefined;
  readonly limit: number;
}

/** A piece of writing inside a transaction; it answers false when it wants to go on in the next one. */
export type Step = () => boolean;

interface Job {
  readonly step: Step;
  /** Runs after the flush and before anything else is written: changes of what readers rely on. */
  readonly apply: (() => void) | undefined;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** A job that is through, by itself or by an error. */
interface Outcome {
  readonly job: Job;
  readonly error: unknown;
}

/** Whether lmdb has met a page that is none; whatever shares a transaction with that is refused as well. */
export const isBroken = (error: unknown): boolean =>
  error instanceof Error && /^MDB_(CORRUPTED|PAGE_NOTFOUND|BAD_TXN|PANIC)/.test(error.message);

const report = (line: string): void => void process.stderr.write(`MongoDB: ${line}\n`);

const noRoom = ({ message }: DiskFull): CommandError => new CommandError(14031, message);

/** For so long a transaction takes up further jobs; the last may go on a little longer. */
const TURN_MS = 6;

/** An open environment. Reads outside a step see only what is flushed; reads inside see the transaction. */
export class Store {
  readonly #env: RootDatabase<Buffer, Buffer>;
  readonly #file: string;
  readonly #kept: CheckedFile;
  readonly #space: DiskSpace;
  readonly #onFatal: (error: Error) => void;
  readonly #beforeCommit: () => void;
  readonly #afterFlush: () => void;
  readonly #onRollBack: () => void;
  #queue: Job[] = [];
  #draining: Promise<void> | undefined;
  #broken: Error | undefined;
  #transactions = 0;
  #isRunning = false;
  #isLost = false;

  constructor(
    directory: string,
    hooks: {
      onFatal(error: Error): void;
      beforeCommit(): void;
      afterFlush(): void;
      /** What the steps of a transaction have written could not be stored, for lack of room. */
      onRollBack(): void;
    },
  ) {
    this.#env = open<Buffer, Buffer>({
      path: directory,
      encoding: 'binary',
      keyEncoding: 'binary',
      cache: false,
      overlappingSync: false,
      // Its own batches would reject promises that nobody holds when a commit fails.
      eventTurnBatching: false,
      noMemInit: true,
      maxDbs: 1,
    });
    this.#file = `${directory}/data.mdb`;
    checkLength(this.#env, this.#file);
    checkKind(this.#env, this.#file, isKey);
    this.#kept = watchStoreFile(this.#file, this.#env);
    this.#onFatal = hooks.onFatal;
    this.#beforeCommit = hooks.beforeCommit;
    this.#afterFlush = hooks.afterFlush;
    this.#onRollBack = hooks.onRollBack;
    this.#space = watchDiskSpace(this.#file, report);
  }

  /** The environment while it can be used; reading a closed one would bring the process down. */
  get #live(): RootDatabase<Buffer, Buffer> {
    if (this.#broken) throw this.#broken;
    return this.#env;
  }

  /** The number of the running transaction; undefined outside of steps. */
  get transaction(): number | undefined {
    return this.#isRunning ? this.#transactions : undefined;
  }

  get(key: Buffer): Buffer | undefined {
    return this.#live.get(key);
  }

  has(key: Buffer): boolean {
    return this.#live.getBinaryFast(key) !== undefined;
  }

  /** Only inside a step. */
  put(key: Buffer, value: Buffer): void {
    this.#live.putSync(key, value);
  }

  /** Only inside a step. */
  remove(key: Buffer): void {
    this.#live.removeSync(key);
  }

  keys(range: KeyRange): Iterable<Buffer> {
    const lmdb = bounds(range);
    return verifyRange(this.#live, lmdb, this.#live.getKeys(lmdb), (key) => key);
  }

  entries(range: KeyRange): Iterable<{ key: Buffer; value: Buffer }> {
    const lmdb = bounds(range);
    return verifyRange(this.#live, lmdb, this.#live.getRange(lmdb), ({ key }) => key);
  }

  /** The first of `entries`, by a shorter way. */
  first(range: KeyRange): { key: Buffer; value: Buffer } | undefined {
    for (const entry of this.#live.getRange(bounds({ ...range, limit: 1 }))) return entry;
    // Whether there really is none is more to ask.
    for (const entry of this.entries(range)) return entry;
    return undefined;
  }

  /**
   * Runs a step in a transaction shared with all that wait, again in the next one while it answers false, and
   * resolves once it is flushed. What a step has written before it throws stays; the error is the promise's.
   * `apply` runs right after the flush, alone.
   */
  write(step: Step, apply?: () => void): Promise<void> {
    return new Promise((done, failed) => {
      if (this.#broken) return failed(this.#broken);
      this.#queue.push({ step, apply, done, failed });
      this.#draining ??= new Promise((resolve) => {
        setImmediate(() => resolve(this.#drain()));
      });
    });
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0 && !this.#broken) {
      const refusal = this.#refusal();
      if (refusal) {
        for (const job of this.#queue.splice(0)) job.failed(refusal);
        continue;
      }
      const outcomes: Outcome[] = [];
      try {
        await this.#env.transaction(() => {
          this.#transactions++;
          this.#isRunning = true;
          try {
            this.#turn(outcomes);
            this.#beforeCommit();
          } finally {
            this.#isRunning = false;
          }
        });
      } catch (error) {
        const cause = await this.#space.explain(error);
        if (cause instanceof DiskFull) {
          this.#onRollBack();
          // Those that wait may have written a part in this transaction.
          this.#fail(noRoom(cause), outcomes);
          continue;
        }
        this.#break(cause, outcomes);
        return;
      }
      // Readers see the flushed state from here on, and nothing of it before.
      this.#env.resetReadTxn();
      this.#afterFlush();
      for (const { job, error } of outcomes) {
        if (error !== undefined) job.failed(error);
        else {
          job.apply?.();
          job.done();
        }
      }
    }
    this.#draining = undefined;
  }

  /** Why nothing can be written now, if so; said once, on standard error, too. */
  #refusal(): CommandError | undefined {
    try {
      this.#kept.check();
      this.#isLost = false;
      this.#space.check();
      return undefined;
    } catch (error) {
      if (error instanceof DiskFull) return noRoom(error);
      const message = error instanceof Error ? error.message : String(error);
      if (!this.#isLost) report(message);
      this.#isLost = true;
      return new CommandError(301, message);
    }
  }

  /** Runs waiting jobs for one turn; a job with an `apply` only alone. */
  #turn(outcomes: Outcome[]): void {
    const until = performance.now() + TURN_MS;
    for (let job = this.#queue[0]; job && performance.now() < until; job = this.#queue[0]) {
      if (job.apply && outcomes.length > 0) return;
      this.#queue.shift();
      try {
        if (!job.step()) {
          // The others come first; this one goes on behind them.
          this.#queue.push(job);
          return;
        }
        outcomes.push({ job, error: undefined });
        if (job.apply) return;
      } catch (error) {
        outcomes.push({ job, error });
      }
    }
  }

  /** Readers begin anew: one that has met a damaged page can read no other. Only outside a step. */
  refresh(): void {
    this.#live.resetReadTxn();
  }

  /** A transaction that failed leaves memory ahead of the disk: nothing can be trusted any more. */
  #break(failure: Error, outcomes: readonly Outcome[]): void {
    // What a step has met first is why the transaction could not be made.
    const broken = [failure, ...outcomes.map(({ error }) => error)].some(isBroken);
    const error = broken ? new StoreDamaged(`a page of ${this.#file} is damaged: ${RESTORE_HINT}`) : failure;
    this.#broken = error;
    this.#fail(error, outcomes);
    this.#onFatal(error);
  }

  #fail(error: Error, outcomes: readonly Outcome[]): void {
    for (const { job } of outcomes) job.failed(error);
    for (const job of this.#queue.splice(0)) job.failed(error);
  }

  /** Waits for what is being written, then closes. */
  async close(): Promise<void> {
    while (this.#draining && !this.#broken) await this.#draining;
    this.#broken ??= new Error('the store is closed');
    await this.#env.close();
    this.#kept.close();
  }
}

function bounds({ low, high, reverse, after, limit }: KeyRange) {
  const [first, last] = reverse ? [high, low] : [low, high];
  return {
    start: after ?? first,
    end: last,
    exclusiveStart: after !== undefined,
    inclusiveEnd: reverse === true,
    reverse: reverse === true,
    limit,
  };
}
