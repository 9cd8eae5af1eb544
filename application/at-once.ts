/** Costly work, so many pieces at a time: the others wait in line, and no more wait than can be answered in time. */
import { Unavailable } from './ports.js';
import { REQUEST_MS } from './within.js';

/** Runs the work when it is its turn. Rejects with `Unavailable` when too many wait. */
export type AtOnce = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function createAtOnce(name: string, most: number, mostWaiting: number): AtOnce {
  const waiting: (() => void)[] = [];
  let running = 0;

  const over = () => {
    const next = waiting.shift();
    if (next) next();
    else running--;
  };

  return async (work) => {
    if (running < most) running++;
    else {
      if (waiting.length >= mostWaiting) throw new Unavailable(`too much waits for ${name}`);
      const came = performance.now();
      await new Promise<void>((resolve) => waiting.push(resolve));
      // Whoever asked has been answered by now.
      if (performance.now() - came > REQUEST_MS) {
        over();
        throw new Unavailable(`${name} is waited for in vain`);
      }
    }
    return work().finally(over);
  };
}
