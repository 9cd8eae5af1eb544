/** Ordered key-value store on lmdb, with a queue of writes that share transactions and flushes. */
import { open, type RootDatabase } from 'lmdb';
import { DiskFull, watchDiskSpace } from '../../supervisor/disk-space.js';
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

/** Range from `low` (inclusive) to `high` (exclusive), or backwards; `after` continues behind a key. */
export interface KeyRange {
  readonly low: Buffer;
  readonly high: Buffer;
  readonly reverse?: boolean;
  readonly after?: Buffer | undefined;
  readonly limit: number;
}

/** A write inside a transaction; returns false to continue in the next one. */
export type Step = () => boolean;

interface Job {
  readonly step: Step;
  /** Runs after the flush and before any other write; changes the state that readers rely on. */
  readonly apply: (() => void) | undefined;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** A finished job, with its error if it failed. */
interface Outcome {
  readonly job: Job;
  readonly error: unknown;
}

/** True if lmdb met an invalid page. Everything else in the same transaction fails with it. */
export const isPageDamaged = (error: unknown): boolean =>
  error instanceof Error && /^MDB_(CORRUPTED|PAGE_NOTFOUND|BAD_TXN|PANIC)/.test(error.message);

const report = (line: string): void => void process.stderr.write(`MongoDB: ${line}\n`);

const diskFullError = ({ message }: DiskFull): CommandError => new CommandError(14031, message);

/** Milliseconds during which a transaction accepts further jobs; the last one may exceed them. */
const SLICE_MS = 6;

/** An open environment. Reads outside a step see only flushed data; reads inside see the transaction. */
export class Store {
  readonly #env: RootDatabase<Buffer, Buffer>;
  readonly #file: string;
  readonly #storeFile: CheckedFile;
  readonly #space: ReturnType<typeof watchDiskSpace>;
  readonly #onFatal: (error: Error) => void;
  readonly #beforeCommit: () => void;
  readonly #afterFlush: () => void;
  readonly #onRollBack: () => void;
  #queue: Job[] = [];
  #draining: Promise<void> | undefined;
  #broken: Error | undefined;
  #transactions = 0;
  #isRunning = false;
  #isFileMissing = false;

  constructor(
    directory: string,
    hooks: {
      onFatal(error: Error): void;
      beforeCommit(): void;
      afterFlush(): void;
      /** A transaction was undone because the disk is full. */
      onRollBack(): void;
    },
  ) {
    this.#env = open<Buffer, Buffer>({
      path: directory,
      encoding: 'binary',
      keyEncoding: 'binary',
      cache: false,
      overlappingSync: false,
      // Implicit batches would reject promises that nothing handles when a commit fails.
      eventTurnBatching: false,
      noMemInit: true,
      maxDbs: 1,
    });
    this.#file = `${directory}/data.mdb`;
    checkLength(this.#env, this.#file);
    checkKind(this.#env, this.#file, isKey);
    this.#storeFile = watchStoreFile(this.#file, this.#env);
    this.#onFatal = hooks.onFatal;
    this.#beforeCommit = hooks.beforeCommit;
    this.#afterFlush = hooks.afterFlush;
    this.#onRollBack = hooks.onRollBack;
    this.#space = watchDiskSpace(this.#file, report);
  }

  /** The environment while it is usable; reading a closed one would crash the process. */
  get #live(): RootDatabase<Buffer, Buffer> {
    if (this.#broken) throw this.#broken;
    return this.#env;
  }

  /** Number of the running transaction; undefined outside of steps. */
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

  /** First entry of a range; faster than `entries`. */
  first(range: KeyRange): { key: Buffer; value: Buffer } | undefined {
    for (const entry of this.#live.getRange(bounds({ ...range, limit: 1 }))) return entry;
    // Verifying that there is none takes the full check.
    for (const entry of this.entries(range)) return entry;
    return undefined;
  }

  /**
   * Runs a step in a transaction shared with all queued jobs, again in the next one while it returns false, and
   * resolves once it is flushed. Data written before a step throws is kept; the promise rejects with the error.
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
            this.#runSlice(outcomes);
            this.#beforeCommit();
          } finally {
            this.#isRunning = false;
          }
        });
      } catch (error) {
        const cause = await this.#space.explain(error);
        if (cause instanceof DiskFull) {
          this.#onRollBack();
          // Queued jobs may have written a part in this transaction.
          this.#fail(diskFullError(cause), outcomes);
          continue;
        }
        this.#break(cause, outcomes);
        return;
      }
      // From here on readers see the flushed state.
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

  /** Returns why nothing can be written now; reports it once on standard error. */
  #refusal(): CommandError | undefined {
    try {
      this.#storeFile.check();
      this.#isFileMissing = false;
      this.#space.check();
      return undefined;
    } catch (error) {
      if (error instanceof DiskFull) return diskFullError(error);
      const message = error instanceof Error ? error.message : String(error);
      if (!this.#isFileMissing) report(message);
      this.#isFileMissing = true;
      return new CommandError(301, message);
    }
  }

  /** Runs queued jobs for one slice; a job with `apply` runs alone. */
  #runSlice(outcomes: Outcome[]): void {
    const until = performance.now() + SLICE_MS;
    for (let job = this.#queue[0]; job && performance.now() < until; job = this.#queue[0]) {
      if (job.apply && outcomes.length > 0) return;
      this.#queue.shift();
      try {
        if (!job.step()) {
          // Other jobs run before this one continues.
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

  /** Starts a new read transaction; one that met a damaged page cannot read any other. Only outside a step. */
  refresh(): void {
    this.#live.resetReadTxn();
  }

  /** Stops all use of the store: after a failed transaction, memory is ahead of the disk. */
  #break(failure: Error, outcomes: readonly Outcome[]): void {
    // A step's own error reveals the cause of the failed transaction.
    const broken = [failure, ...outcomes.map(({ error }) => error)].some(isPageDamaged);
    const error = broken ? new StoreDamaged(`a page of ${this.#file} is damaged: ${RESTORE_HINT}`) : failure;
    this.#broken = error;
    this.#fail(error, outcomes);
    this.#onFatal(error);
  }

  #fail(error: Error, outcomes: readonly Outcome[]): void {
    for (const { job } of outcomes) job.failed(error);
    for (const job of this.#queue.splice(0)) job.failed(error);
  }

  /** Waits for pending writes, then closes. */
  async close(): Promise<void> {
    while (this.#draining && !this.#broken) await this.#draining;
    this.#broken ??= new Error('the store is closed');
    await this.#env.close();
    this.#storeFile.close();
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
