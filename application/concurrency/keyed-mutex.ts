/** Commands of one process on one stream go one after the other: they would only conflict. */
import { UnavailableError } from '../ports/index.js';
import { REQUEST_MS } from './deadline.js';

interface Queue {
  last: Promise<unknown>;
  length: number;
}

/**
 * Runs work when all that came before it under the same key is over. Rejects with `Unavailable`, and the work is
 * never begun, when it has waited for longer than whoever asked for it is answered. How many may wait is for those to
 * say who let them in: a request has its place until its command is over.
 */
export function createKeyedMutex() {
  const lines = new Map<string, Queue>();

  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(key) ?? { last: Promise.resolve(), length: 0 };
    const came = performance.now();
    const begin = () => {
      if (performance.now() - came > REQUEST_MS) throw new UnavailableError(`${key} is waited for in vain`);
      return work();
    };
    const mine = line.last.then(begin);
    lines.set(key, line);
    line.length++;
    const over = () => {
      if (--line.length === 0) lines.delete(key);
    };
    line.last = mine.then(over, over);
    return mine;
  };
}
