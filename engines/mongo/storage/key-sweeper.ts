/** Removes the keys of dropped collections and indexes in small transactions that delay no other writes. */
import { garbageKey, spaceEnd, spaceHead } from './layout.js';
import type { Store } from './store.js';

/** Keys removed per transaction. */
const SLICE_KEYS = 512;

/** Work left at shutdown is recorded in the store's garbage entries and resumed at the next start. */
export class KeySweeper {
  #spaces: number[] = [];
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(readonly store: Store) {}

  add(spaces: readonly number[]): void {
    this.#spaces.push(...spaces);
    if (this.#spaces.length > 0) this.#running ??= this.#sweep();
  }

  async #sweep(): Promise<void> {
    try {
      for (let space = this.#spaces[0]; space !== undefined && !this.#closed; space = this.#spaces[0])
        if (await this.#removeSlice(space)) this.#spaces.shift();
    } catch {
      // The store reports its failures itself. The next call of `add` resumes.
    }
    this.#running = undefined;
  }

  /** Returns true once all keys are removed. */
  async #removeSlice(space: number): Promise<boolean> {
    let isDone = false;
    await this.store.write(() => {
      isDone = this.#removeKeys(space);
      return true;
    });
    return isDone;
  }

  #removeKeys(space: number): boolean {
    const head = spaceHead(space);
    const keys = [...this.store.keys({ low: head, high: spaceEnd(head), limit: SLICE_KEYS })];
    for (const key of keys) this.store.remove(key);
    if (keys.length === SLICE_KEYS) return false;
    this.store.remove(garbageKey(space));
    return true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }
}
