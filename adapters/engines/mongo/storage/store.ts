/** The lmdb environment: ordered bytes, and a queue of writes that share transactions and flushes. */
import { open, type RootDatabase } from 'lmdb';

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

/** How long one transaction may keep the event loop. */
const TURN_MS = 12;

/** An open environment. Reads outside a step see only what is flushed; reads inside see the transaction. */
export class Store {
  readonly #env: RootDatabase<Buffer, Buffer>;
  readonly #onFatal: (error: Error) => void;
  readonly #beforeCommit: () => void;
  readonly #afterFlush: () => void;
  #queue: Job[] = [];
  #draining: Promise<void> | undefined;
  #broken: Error | undefined;

  constructor(
    directory: string,
    hooks: { onFatal(error: Error): void; beforeCommit(): void; afterFlush(): void },
  ) {
    this.#env = open<Buffer, Buffer>({
      path: directory,
      encoding: 'binary',
      keyEncoding: 'binary',
      cache: false,
      overlappingSync: false,
      noMemInit: true,
      maxDbs: 1,
    });
    this.#onFatal = hooks.onFatal;
    this.#beforeCommit = hooks.beforeCommit;
    this.#afterFlush = hooks.afterFlush;
  }

  get(key: Buffer): Buffer | undefined {
    return this.#env.get(key);
  }

  has(key: Buffer): boolean {
    return this.#env.getBinaryFast(key) !== undefined;
  }

  /** Only inside a step. */
  put(key: Buffer, value: Buffer): void {
    this.#env.putSync(key, value);
  }

  /** Only inside a step. */
  remove(key: Buffer): void {
    this.#env.removeSync(key);
  }

  keys(range: KeyRange): Iterable<Buffer> {
    return this.#env.getKeys(bounds(range));
  }

  entries(range: KeyRange): Iterable<{ key: Buffer; value: Buffer }> {
    return this.#env.getRange(bounds(range));
  }

  /**
   * Runs a step in a transaction shared with all that wait, again in the next one while it answers false, and
   * resolves once it is flushed. A step that throws must not have written; the error is the promise's.
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
      let finished: (() => void)[] = [];
      let apply: (() => void) | undefined;
      try {
        await this.#env.transaction(() => {
          [finished, apply] = this.#turn();
          this.#beforeCommit();
        });
      } catch (error) {
        return this.#break(error instanceof Error ? error : new Error(String(error)));
      }
      this.#env.resetReadTxn();
      this.#afterFlush();
      apply?.();
      for (const finish of finished) finish();
    }
    this.#draining = undefined;
  }

  #turn(): [(() => void)[], (() => void) | undefined] {
    const finished: (() => void)[] = [];
    const until = performance.now() + TURN_MS;
    do {
      const job = this.#queue[0]!;
      if (job.apply && finished.length > 0) break;
      try {
        this.#queue.shift();
        if (!job.step()) {
          this.#queue.push(job);
          break;
        }
        finished.push(job.done);
        if (job.apply) return [finished, job.apply];
      } catch (error) {
        finished.push(() => job.failed(error));
      }
    } while (this.#queue.length > 0 && performance.now() < until);
    return [finished, undefined];
  }

  /** A transaction that failed leaves memory ahead of the disk: nothing can be trusted any more. */
  #break(error: Error): void {
    this.#broken = error;
    for (const job of this.#queue) job.failed(error);
    this.#queue = [];
    this.#onFatal(error);
  }

  /** Waits for what is being written, then closes. */
  async close(): Promise<void> {
    while (this.#draining && !this.#broken) await this.#draining;
    this.#broken ??= new Error('the store is closed');
    await this.#env.close();
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
