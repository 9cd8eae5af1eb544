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
  /** Part of the capacity that the job takes, at most all of it; default: 1. */
  readonly weight?: number;
  /** Milliseconds after which waiting is pointless; default: those of a request. */
  readonly maxWaitMs?: number;
  /** Waiters with the same key, queued before the job starts, may receive its result. */
  readonly coalesceKey?: string;
  /** Returns how many waiters may receive a result; default: all. */
  readonly maxSharers?: (result: Result) => number;
}

interface Waiter {
  readonly weight: number;
  readonly coalesceKey: string | undefined;
  /** Resumes the waiter: with the result of an equal job, or to run its own. */
  readonly resume: (shared?: { readonly result: unknown }) => void;
  readonly reject: (reason: UnavailableError) => void;
}

/**
 * @param name What the job needs, for error messages.
 * @param capacity Weight of the jobs that run at the same time.
 */
export function createFairSemaphore(name: string, capacity: number, maxWaiting: number): FairSemaphore {
  /** By tenant; the first one is served next. */
  const queues = new Map<string, readonly Waiter[]>();
  let waiting = 0;
  let used = 0;

  /** Replaces the queue of a tenant, which keeps its place in the round. */
  function setQueue(tenant: string, queue: readonly Waiter[]) {
    waiting += queue.length - (queues.get(tenant)?.length ?? 0);
    if (queue.length > 0) queues.set(tenant, queue);
    else queues.delete(tenant);
  }

  function resumeWaiters() {
    for (const [tenant, [waiter, ...queue]] of queues) {
      if (!waiter || used + waiter.weight > capacity) return;
      // Removing the tenant first moves it to the end of the round.
      setQueue(tenant, []);
      setQueue(tenant, queue);
      used += waiter.weight;
      waiter.resume();
    }
  }

  function release(weight: number) {
    used -= weight;
    resumeWaiters();
  }

  const enqueue = (tenant: string, weight: number, { request, coalesceKey }: Omit<WaitOptions, 'maxSharers'>) =>
    new Promise<{ readonly result: unknown } | undefined>((resume, reject) => {
      const waiter = { weight, coalesceKey, resume, reject };
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
        resumeWaiters();
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
    const { maxWaitMs = REQUEST_MS, coalesceKey, maxSharers } = options;
    const weight = Math.min(options.weight ?? 1, capacity);
    if (waiting === 0 && used + weight <= capacity) used += weight;
    else {
      const queuedAt = performance.now();
      const slot = enqueue(tenant, weight, options);
      if (waiting > maxWaiting) rejectNewestOfLongest();
      const shared = await slot;
      if (shared) return shared.result as Result;
      // The request has been answered by now.
      if (performance.now() - queuedAt > maxWaitMs) {
        release(weight);
        throw new UnavailableError(`request for ${name} waited longer than ${maxWaitMs} ms; try again later`);
      }
    }
    try {
      const sharers = coalesceKey !== undefined && waiting > 0 ? waitersFor(coalesceKey) : undefined;
      const result = await job();
      if (sharers) share(result, sharers, maxSharers?.(result) ?? sharers.size);
      return result;
    } finally {
      release(weight);
    }
  };
}
