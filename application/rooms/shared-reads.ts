/** Reads of rooms, few at a time: a room can be of tens of megabytes, and many readers would have it many times over. */
import { REQUEST_MS } from '../concurrency/index.js';
import { UnavailableError } from '../ports/index.js';

/** Each holds the rows of its room, and what they open to. */
const AT_ONCE = 2;

/** `shared`: others may be given the same, whatever they have asked for of the room. */
type Read<Result> = (shared: boolean) => Promise<Result>;

interface Waiting<Result> {
  readonly result: Promise<Result>;
  readonly begin: () => void;
}

/**
 * Gives each what is read of its room after it came; who comes while a reading of the room waits to begin is given
 * what that one finds. Rejects with `Unavailable`, and nothing is read, after a longer wait than anybody is answered.
 */
export function createSharedReads<Result>() {
  /** By room, in the order in which they came. */
  const waiting = new Map<string, Waiting<Result>>();
  let running = 0;

  /** Who is next takes the place over. */
  const over = () => {
    const [next] = waiting;
    if (!next) return void running--;
    const [roomId, { begin }] = next;
    waiting.delete(roomId);
    begin();
  };

  function wait(roomId: string, read: Read<Result>): Promise<Result> {
    const came = performance.now();
    let begin = () => {};
    const turn = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const result = turn.then(() => {
      if (performance.now() - came > REQUEST_MS) throw new UnavailableError(`${roomId} is waited for in vain`);
      return read(true);
    });
    waiting.set(roomId, { result: result.finally(over), begin });
    return waiting.get(roomId)!.result;
  }

  return (roomId: string, read: Read<Result>): Promise<Result> => {
    const joined = waiting.get(roomId);
    if (joined) return joined.result;
    if (running === AT_ONCE) return wait(roomId, read);
    running++;
    return read(false).finally(over);
  };
}
