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
    for (let space = this.#spaces[0]; space !== undefined && !this.#closed; space = this.#spaces[0])
      // A failure here is one of the store, which reports it itself.
      await this.store.write(() => this.#removeSome(space)).catch(() => this.#stop());
    this.#running = undefined;
  }

  #removeSome(space: number): boolean {
    const head = spaceHead(space);
    const keys = [...this.store.keys({ low: head, high: spaceEnd(head), limit: KEYS })];
    for (const key of keys) this.store.remove(key);
    if (keys.length < KEYS) {
      this.store.remove(garbageKey(space));
      this.#spaces.shift();
    }
    return true;
  }

  #stop(): void {
    this.#closed = true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }
}
