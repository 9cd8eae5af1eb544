/** Limits concurrent reads of large rooms (tens of megabytes each) and shares their results. */
import { REQUEST_MS } from '../concurrency/index.js';
import { UnavailableError } from '../ports/index.js';

/** Concurrent reads. Each holds the rows of its room and their decrypted contents. */
const AT_ONCE = 2;

/** `isShared`: other requests may receive the result, so it must hold the whole room. */
type Read<Result> = (isShared: boolean) => Promise<Result>;

interface QueuedRead<Result> {
  readonly result: Promise<Result>;
  readonly start: () => void;
}

/**
 * Creates a function that reads a room after the call. Calls that arrive while a read of the same room is queued share
 * its result. Rejects with `UnavailableError` if the wait exceeds the request timeout.
 */
export function createSharedReads<Result>() {
  /** By room id, in order of arrival. */
  const queue = new Map<string, QueuedRead<Result>>();
  let running = 0;

  /** Hands the slot over to the next queued read. */
  const release = () => {
    const [next] = queue;
    if (!next) return void running--;
    const [roomId, { start }] = next;
    queue.delete(roomId);
    start();
  };

  function enqueue(roomId: string, read: Read<Result>): Promise<Result> {
    const arrivedAt = performance.now();
    let start = () => {};
    const slot = new Promise<void>((resolve) => {
      start = resolve;
    });
    const result = slot.then(() => {
      if (performance.now() - arrivedAt > REQUEST_MS)
        throw new UnavailableError(`timed out waiting to read room ${roomId}`);
      return read(true);
    });
    queue.set(roomId, { result: result.finally(release), start });
    return queue.get(roomId)!.result;
  }

  return (roomId: string, read: Read<Result>): Promise<Result> => {
    const queued = queue.get(roomId);
    if (queued) return queued.result;
    if (running === AT_ONCE) return enqueue(roomId, read);
    running++;
    return read(false).finally(release);
  };
}
