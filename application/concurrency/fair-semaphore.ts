/**
 * Costly work, so many pieces at a time: the others wait in line, and no more wait than can be answered in time, of whoever
 * has the longest line the fewer.
 */
import { UnavailableError } from '../ports/index.js';
import { REQUEST_MS } from './deadline.js';

/**
 * Runs the work when it is its turn: by turns for each of those it is done for, `whose`. Rejects with `Unavailable`
 * when too many wait: of the longest line the last one, who may have come before.
 */
export type FairSemaphore = <Result>(
  work: () => Promise<Result>,
  tenant?: string,
  waiting?: WaitOptions<Result>,
) => Promise<Result>;

export interface WaitOptions<Result = unknown> {
  /** Aborted when nobody waits any more; asked for where there is a line. */
  readonly request?: { readonly signal: AbortSignal };
  /** Whoever waits for the same when it begins may be given what it comes to: so many of them. */
  readonly coalesceKey?: string;
  readonly maxSharers?: (made: Result) => number;
}

type Lining = Pick<WaitOptions, 'request' | 'coalesceKey'>;

interface Waiter {
  readonly coalesceKey: string | undefined;
  /** `made` by another. */
  readonly begin: (given?: { readonly made: unknown }) => void;
  readonly refuse: (reason: UnavailableError) => void;
}

export function createFairSemaphore(name: string, most: number, mostWaiting: number): FairSemaphore {
  /** By whose turn is next. */
  const lines = new Map<string, readonly Waiter[]>();
  let waiting = 0;
  let running = 0;

  /** Those who remain keep their place among the others. */
  function remain(whose: string, line: readonly Waiter[]) {
    waiting += line.length - (lines.get(whose)?.length ?? 0);
    if (line.length > 0) lines.set(whose, line);
    else lines.delete(whose);
  }

  function next(): Waiter | undefined {
    const [first] = lines;
    if (!first) return undefined;
    const [whose, [waiter, ...line]] = first;
    remain(whose, []);
    remain(whose, line);
    return waiter;
  }

  const over = () => {
    const waiter = next();
    if (waiter) waiter.begin();
    else running--;
  };

  const turn = (whose: string, { request, coalesceKey }: Lining) =>
    new Promise<{ readonly made: unknown } | undefined>((begin, refuse) => {
      const waiter = { coalesceKey, begin, refuse };
      remain(whose, [...(lines.get(whose) ?? []), waiter]);
      const signal = request?.signal;
      const leave = () => {
        const line = lines.get(whose) ?? [];
        if (!line.includes(waiter)) return;
        remain(
          whose,
          line.filter((each) => each !== waiter),
        );
        refuse(new UnavailableError(`nobody waits for ${name} any more`));
      };
      if (signal?.aborted) leave();
      else signal?.addEventListener('abort', leave, { once: true });
    });

  /** One more in line than there may be: nobody can leave no place for others. */
  function refuseOne() {
    const [whose, line] = [...lines].reduce((longest, each) => (each[1].length > longest[1].length ? each : longest));
    remain(whose, line.slice(0, -1));
    line.at(-1)!.refuse(new UnavailableError(`too much waits for ${name}`));
  }

  const waitingFor = (same: string) =>
    new Set([...lines.values()].flat().filter((waiter) => waiter.coalesceKey === same));

  /** Gives it to some who wait still. */
  function give(made: unknown, to: ReadonlySet<Waiter>, most: number) {
    let left = most;
    for (const [whose, line] of [...lines]) {
      const given = line.filter((waiter) => to.has(waiter)).slice(0, Math.max(0, left));
      left -= given.length;
      if (given.length === 0) continue;
      remain(
        whose,
        line.filter((waiter) => !given.includes(waiter)),
      );
      for (const { begin } of given) begin({ made });
    }
  }

  return async <Result>(work: () => Promise<Result>, whose = '', asked: WaitOptions<Result> = {}) => {
    if (running < most) running++;
    else {
      const came = performance.now();
      const turned = turn(whose, asked);
      if (waiting > mostWaiting) refuseOne();
      const given = await turned;
      if (given) return given.made as Result;
      // Whoever asked has been answered by now.
      if (performance.now() - came > REQUEST_MS) {
        over();
        throw new UnavailableError(`${name} is waited for in vain`);
      }
    }
    try {
      const { coalesceKey, maxSharers } = asked;
      const others = coalesceKey !== undefined && waiting > 0 ? waitingFor(coalesceKey) : undefined;
      const made = await work();
      if (others) give(made, others, maxSharers?.(made) ?? others.size);
      return made;
    } finally {
      over();
    }
  };
}
