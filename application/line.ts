/** Commands of one process on one stream go one after the other: they would only conflict. */
import { Unavailable } from './ports.js';
import { REQUEST_MS } from './within.js';

/** Commands of one stream that are under way or wait, and of all streams: with a silent store they would pile up. */
const MOST = { ofOne: 1000, ofAll: 2000 };

interface Line {
  last: Promise<unknown>;
  length: number;
}

/**
 * Runs work when all that came before it under the same key is over. Rejects with `Unavailable`, and the work is
 * never begun, where too many wait already, or when it has waited for longer than whoever asked for it is answered.
 */
export function createLine() {
  const lines = new Map<string, Line>();
  let all = 0;

  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(key) ?? { last: Promise.resolve(), length: 0 };
    if (line.length >= MOST.ofOne || all >= MOST.ofAll)
      throw new Unavailable(`too many wait for ${key}, or for all streams`);
    const came = performance.now();
    const begin = () => {
      if (performance.now() - came > REQUEST_MS) throw new Unavailable(`${key} is waited for in vain`);
      return work();
    };
    const mine = line.last.then(begin);
    lines.set(key, line);
    line.length++;
    all++;
    const over = () => {
      all--;
      if (--line.length === 0) lines.delete(key);
    };
    line.last = mine.then(over, over);
    return mine;
  };
}
