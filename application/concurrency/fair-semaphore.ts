/**
 * Limits concurrent jobs. Waiters queue per tenant and are served round-robin; when the queue is full, the newest
 * waiter of the longest queue is rejected with `UnavailableError`.
 */
import { UnavailableError } from '../ports/index.js';
import { REQUEST_MS } from './deadline.js';

export type FairSemaphore = <Result>(
  job: () => Promise<Result>,
  tenant?: string,
  options?: WaitOptions<Result>,
) => Promise<Result>;

export interface WaitOptions<Result = unknown> {
  /** Leaves the queue when the signal is aborted. `signal` is only read when the job has to wait. */
  readonly request?: { readonly signal: AbortSignal };
  /** Waiters with the same key, queued before the job starts, may receive its result. */
  readonly coalesceKey?: string;
  /** Returns how many waiters may receive a result; default: all. */
  readonly maxSharers?: (result: Result) => number;
}

interface Waiter {
  readonly coalesceKey: string | undefined;
  /** Resumes the waiter: with the result of an equal job, or to run its own. */
  readonly resume: (shared?: { readonly result: unknown }) => void;
  readonly reject: (reason: UnavailableError) => void;
}

/** @param name What the job needs, for error messages. */
export function createFairSemaphore(name: string, maxRunning: number, maxWaiting: number): FairSemaphore {
  /** By tenant; the first one is served next. */
  const queues = new Map<string, readonly Waiter[]>();
  let waiting = 0;
  let running = 0;

  /** Replaces the queue of a tenant, which keeps its place in the round. */
  function setQueue(tenant: string, queue: readonly Waiter[]) {
    waiting += queue.length - (queues.get(tenant)?.length ?? 0);
    if (queue.length > 0) queues.set(tenant, queue);
    else queues.delete(tenant);
  }

  function dequeue(): Waiter | undefined {
    const [first] = queues;
    if (!first) return undefined;
    const [tenant, [waiter, ...queue]] = first;
    // Removing the tenant first moves it to the end of the round.
    setQueue(tenant, []);
    setQueue(tenant, queue);
    return waiter;
  }

  const release = () => {
    const waiter = dequeue();
    if (waiter) waiter.resume();
    else running--;
  };

  const enqueue = (tenant: string, { request, coalesceKey }: Pick<WaitOptions, 'request' | 'coalesceKey'>) =>
    new Promise<{ readonly result: unknown } | undefined>((resume, reject) => {
      const waiter = { coalesceKey, resume, reject };
      setQueue(tenant, [...(queues.get(tenant) ?? []), waiter]);
      const signal = request?.signal;
      const leave = () => {
        const queue = queues.get(tenant) ?? [];
        if (!queue.includes(waiter)) return;
        setQueue(
          tenant,
          queue.filter((each) => each !== waiter),
        );
        reject(new UnavailableError(`request for ${name} was cancelled`));
      };
      if (signal?.aborted) leave();
      else signal?.addEventListener('abort', leave, { once: true });
    });

  function rejectNewestOfLongest() {
    const [tenant, queue] = [...queues].reduce((longest, each) =>
      each[1].length > longest[1].length ? each : longest,
    );
    setQueue(tenant, queue.slice(0, -1));
    queue.at(-1)!.reject(new UnavailableError(`too many requests for ${name}; try again later`));
  }

  const waitersFor = (key: string) =>
    new Set([...queues.values()].flat().filter((waiter) => waiter.coalesceKey === key));

  /** Resumes up to `max` of the given waiters with a result, if they are still queued. */
  function share(result: unknown, sharers: ReadonlySet<Waiter>, max: number) {
    let remaining = max;
    for (const [tenant, queue] of [...queues]) {
      const served = queue.filter((waiter) => sharers.has(waiter)).slice(0, Math.max(0, remaining));
      remaining -= served.length;
      if (served.length === 0) continue;
      setQueue(
        tenant,
        queue.filter((waiter) => !served.includes(waiter)),
      );
      for (const { resume } of served) resume({ result });
    }
  }

  return async <Result>(job: () => Promise<Result>, tenant = '', options: WaitOptions<Result> = {}) => {
    if (running < maxRunning) running++;
    else {
      const queuedAt = performance.now();
      const slot = enqueue(tenant, options);
      if (waiting > maxWaiting) rejectNewestOfLongest();
      const shared = await slot;
      if (shared) return shared.result as Result;
      // The request has been answered by now.
      if (performance.now() - queuedAt > REQUEST_MS) {
        release();
        throw new UnavailableError(`request for ${name} waited longer than ${REQUEST_MS} ms; try again later`);
      }
    }
    try {
      const { coalesceKey, maxSharers } = options;
      const sharers = coalesceKey !== undefined && waiting > 0 ? waitersFor(coalesceKey) : undefined;
      const result = await job();
      if (sharers) share(result, sharers, maxSharers?.(result) ?? sharers.size);
      return result;
    } finally {
      release();
    }
  };
}
