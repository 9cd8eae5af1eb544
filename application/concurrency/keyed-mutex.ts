/** Keyed mutex: runs jobs with the same key one after the other, for example commands of one process on one stream. */
import { UnavailableError } from '../ports/index.js';
import { REQUEST_MS } from './deadline.js';

interface Queue {
  last: Promise<unknown>;
  length: number;
}

/**
 * Creates a function that runs a job once all earlier jobs with its key have settled. Throws `UnavailableError`,
 * without running the job, after waiting for longer than `maxWaitMs`. Does not limit the number of waiters: requests
 * are limited on admission.
 */
export function createKeyedMutex(maxWaitMs = REQUEST_MS) {
  const queues = new Map<string, Queue>();

  return async <T>(key: string, job: () => Promise<T>): Promise<T> => {
    const queue = queues.get(key) ?? { last: Promise.resolve(), length: 0 };
    const queuedAt = performance.now();
    const start = () => {
      if (performance.now() - queuedAt > maxWaitMs) {
        throw new UnavailableError(`commands on ${key} waited longer than ${maxWaitMs} ms; try again later`);
      }
      return job();
    };
    const result = queue.last.then(start);
    queues.set(key, queue);
    queue.length++;
    const release = () => {
      if (--queue.length === 0) queues.delete(key);
    };
    queue.last = result.then(release, release);
    return result;
  };
}
