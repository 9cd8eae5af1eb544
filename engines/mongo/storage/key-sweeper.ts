/** Removes the keys of dropped collections and indexes, a little in each transaction, so that nobody waits for it. */
import { garbageKey, spaceEnd, spaceHead } from './layout.js';
import type { Store } from './store.js';

/** So many keys are removed in one transaction. */
const KEYS = 512;

/** What is left when the engine stops is told by the store's garbage entries at the next start. */
export class Sweeper {
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
        if (await this.#removeSome(space)) this.#spaces.shift();
    } catch {
      // A failure of the store, which reports it itself. The rest is left to the next call of `add`.
    }
    this.#running = undefined;
  }

  /** Resolves to whether all is gone. */
  async #removeSome(space: number): Promise<boolean> {
    let isGone = false;
    await this.store.write(() => {
      isGone = this.#removeInStep(space);
      return true;
    });
    return isGone;
  }

  #removeInStep(space: number): boolean {
    const head = spaceHead(space);
    const keys = [...this.store.keys({ low: head, high: spaceEnd(head), limit: KEYS })];
    for (const key of keys) this.store.remove(key);
    if (keys.length === KEYS) return false;
    this.store.remove(garbageKey(space));
    return true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }
}
