/**
 * Costly work, so many pieces at a time: the others wait in line, and no more wait than can be answered in time, of whoever
 * has the longest line the fewer.
 */
import { Unavailable } from './ports.js';
import { REQUEST_MS } from './within.js';

/**
 * Runs the work when it is its turn: by turns for each of those it is done for, `whose`. Rejects with `Unavailable`
 * when too many wait: of the longest line the last one, who may have come before.
 */
export type AtOnce = <Result>(work: () => Promise<Result>, whose?: string) => Promise<Result>;

interface Waiter {
  readonly begin: () => void;
  readonly refuse: (reason: Unavailable) => void;
}

export function createAtOnce(name: string, most: number, mostWaiting: number): AtOnce {
  /** By whose turn is next. */
  const lines = new Map<string, readonly Waiter[]>();
  let waiting = 0;
  let running = 0;

  function next(): Waiter | undefined {
    const [first] = lines;
    if (!first) return undefined;
    const [whose, line] = first;
    lines.delete(whose);
    if (line.length > 1) lines.set(whose, line.slice(1));
    waiting--;
    return line[0];
  }

  const over = () => {
    const waiter = next();
    if (waiter) waiter.begin();
    else running--;
  };

  const turn = (whose: string) =>
    new Promise<void>((begin, refuse) => {
      lines.set(whose, [...(lines.get(whose) ?? []), { begin, refuse }]);
      waiting++;
    });

  /** One more in line than there may be: nobody can leave no place for others. */
  function refuseOne() {
    const [whose, line] = [...lines].reduce((longest, each) =>
      each[1].length > longest[1].length ? each : longest,
    );
    if (line.length > 1) lines.set(whose, line.slice(0, -1));
    else lines.delete(whose);
    waiting--;
    line.at(-1)!.refuse(new Unavailable(`too much waits for ${name}`));
  }

  return async (work, whose = '') => {
    if (running < most) running++;
    else {
      const came = performance.now();
      const turned = turn(whose);
      if (waiting > mostWaiting) refuseOne();
      await turned;
      // Whoever asked has been answered by now.
      if (performance.now() - came > REQUEST_MS) {
        over();
        throw new Unavailable(`${name} is waited for in vain`);
      }
    }
    return work().finally(over);
  };
}
