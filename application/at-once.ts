/** Costly work, so many pieces at a time: the others wait in line, and no more wait than can be answered in time. */
import { Unavailable } from './ports.js';
import { REQUEST_MS } from './within.js';

/**
 * Runs the work when it is its turn: by turns for each of those it is done for, `whose`. Rejects with `Unavailable`
 * when too many wait.
 */
export type AtOnce = <Result>(work: () => Promise<Result>, whose?: string) => Promise<Result>;

export function createAtOnce(name: string, most: number, mostWaiting: number): AtOnce {
  /** By whose turn is next. */
  const lines = new Map<string, (() => void)[]>();
  let waiting = 0;
  let running = 0;

  function next(): (() => void) | undefined {
    const [first] = lines;
    if (!first) return undefined;
    const [whose, line] = first;
    lines.delete(whose);
    if (line.length > 1) lines.set(whose, line.slice(1));
    waiting--;
    return line[0];
  }

  const over = () => {
    const begin = next();
    if (begin) begin();
    else running--;
  };

  const turn = (whose: string) =>
    new Promise<void>((resolve) => {
      lines.set(whose, [...(lines.get(whose) ?? []), resolve]);
      waiting++;
    });

  return async (work, whose = '') => {
    if (running < most) running++;
    else {
      if (waiting >= mostWaiting) throw new Unavailable(`too much waits for ${name}`);
      const came = performance.now();
      await turn(whose);
      // Whoever asked has been answered by now.
      if (performance.now() - came > REQUEST_MS) {
        over();
        throw new Unavailable(`${name} is waited for in vain`);
      }
    }
    return work().finally(over);
  };
}
