/** Group commit: events for one stream wait for the append before theirs, and then share one. */
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import {
  type EventLog,
  isTransient,
  type Logger,
  type NewEvent,
  type Position,
  type RecordedEvent,
  UnavailableError,
} from '../ports/index.js';

/**
 * What an append may hold: well below the 1 MiB a server takes, as sealed JSON is at most a third larger; and no more
 * events than are written down in a turn of the event loop.
 */
const APPEND_BYTES = 640 * 1024;
const APPEND_EVENTS = 250;
/** So often the log may not answer. */
const ATTEMPTS = 10;
/** At random, where several nodes write to one stream. */
const CONFLICT_MS = 5;
/** Events wait, and are tried again, for so long; what has not been sent by then is not sent at all. */
const DEADLINE_MS = 6000;

/** Its time was held to be over, by a clock ahead of ours: tried at once again in vain, but a later one is taken. */
export class StreamEndedError extends UnavailableError {
  constructor(stream: string) {
    super(`${stream}, or the day that it is of, was ended by retention`);
  }
}

export interface Waiting {
  readonly event: NewEvent;
  /** Its size before sealing. */
  readonly bytes: number;
}

export interface Appender {
  /**
   * Resolves when the events are flushed, in this order, with the position of the last; rejects with `Unavailable`,
   * also where retention has ended the stream.
   */
  append(stream: string, events: readonly Waiting[]): Promise<Position>;
  /** Of events that wait or are being appended. */
  waitingBytes(): number;
}

export interface AppenderOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  /** Told of every append before anybody is answered. */
  readonly appended: (stream: string, position: Position, events: number) => void;
  /** Nothing is given up while the log goes on taking what came before it: whoever appends is slowed instead. */
  readonly blocking?: true;
}

interface Item extends Waiting {
  readonly done: (position: Position) => void;
  readonly failed: (error: unknown) => void;
}

interface Queue {
  /** What was not sent yet, in order. */
  readonly items: Set<Item>;
  /** The last revision, once it is known. */
  revision: number | undefined;
  /** How many appends the log has taken. */
  commits: number;
}

export function createGroupCommit({ log, logger, appended, blocking }: AppenderOptions): Appender {
  const lines = new Map<string, Queue>();
  const revisions = new LRUCache<string, number>({ max: 1000 });
  let waitingBytes = 0;

  const append: Appender['append'] = (stream, events) =>
    events.length === 0
      ? Promise.resolve(0n)
      : new Promise((resolve, reject) => {
          const line = lineOf(stream);
          const mine: Item[] = [];
          let { commits } = line;
          let left = events.length;
          const late = setTimeout(() => {
            if (blocking && line.commits > commits) {
              commits = line.commits;
              late.refresh();
            } else if (mine.some((item) => line.items.has(item)))
              failed(new UnavailableError(`${stream} is not written to now`));
          }, DEADLINE_MS);
          const done = (position: Position) => {
            if (--left > 0) return;
            clearTimeout(late);
            resolve(position);
          };
          const failed = (error: unknown) => {
            clearTimeout(late);
            takeBack(line, mine);
            reject(error);
          };
          for (const { event, bytes } of events) {
            waitingBytes += bytes;
            const item = { event, bytes, done, failed };
            mine.push(item);
            line.items.add(item);
          }
        });

  /**
   * What is under way goes on: only what was never sent is known not to be there. A log that is silent has thousands
   * wait, who give up one after the other: none may look through all the others.
   */
  function takeBack({ items }: Queue, mine: readonly Item[]) {
    for (const item of mine) if (items.delete(item)) waitingBytes -= item.bytes;
  }

  function lineOf(stream: string): Queue {
    const known = lines.get(stream);
    if (known) return known;
    const line: Queue = { items: new Set(), revision: revisions.get(stream), commits: 0 };
    lines.set(stream, line);
    void run(stream, line);
    return line;
  }

  async function run(stream: string, line: Queue) {
    // One turn of the loop, so that requests that came together go together.
    await new Promise(setImmediate);
    for (let items = take(line); items.length > 0; items = take(line)) {
      try {
        const position = await appendAll(stream, line, items).finally(() => {
          for (const { bytes } of items) waitingBytes -= bytes;
        });
        line.commits++;
        appended(stream, position, items.length);
        for (const { done } of items) done(position);
      } catch (error) {
        for (const { failed } of items) failed(error);
      }
    }
    lines.delete(stream);
    if (line.revision !== undefined) revisions.set(stream, line.revision);
  }

  /** No answer may mean that it was taken all the same: from then on, what is there already is left out. */
  async function appendAll(stream: string, line: Queue, items: readonly Item[]): Promise<Position> {
    let rest = items.map(({ event }) => event);
    const until = performance.now() + DEADLINE_MS;
    let isToLook = line.revision === undefined;
    for (let failed = 0; failed < ATTEMPTS && performance.now() < until; ) {
      try {
        if (isToLook) {
          const there = await newsOf(stream, line.revision);
          line.revision = there.at(-1)?.revision ?? line.revision ?? -1;
          const ids = new Set(there.map(({ id }) => id));
          rest = rest.filter(({ id }) => !ids.has(id));
          if (rest.length === 0) return there.at(-1)?.position ?? 0n;
          isToLook = failed > 0;
        }
        const revision = line.revision ?? -1;
        const outcome = await log.append(stream, revision < 0 ? 'none' : revision, rest);
        if (outcome.outcome === 'appended') {
          line.revision = outcome.revision;
          return outcome.position;
        }
        if (outcome.outcome === 'deleted') throw new StreamEndedError(stream);
        // Other nodes were faster. One of all comes through each time, so that nobody need wait for longer and longer.
        isToLook = failed > 0 || outcome.revision === undefined;
        if (!isToLook) line.revision = outcome.revision;
        await delay(Math.random() * CONFLICT_MS);
      } catch (error) {
        if (!isTransient(error) || error instanceof StreamEndedError) throw error;
        isToLook = true;
        logger.warn({ err: error, stream, tried: failed }, 'the log did not answer, trying again');
        await delay(Math.random() * 5 * 2 ** failed++);
      }
    }
    throw new UnavailableError(`${stream} can't be written to now`);
  }

  /** What came after a revision; of a stream that this process has not written to yet, its last event. */
  async function newsOf(stream: string, revision: number | undefined): Promise<readonly RecordedEvent[]> {
    const found = await log.read(
      stream,
      revision === undefined ? { backwards: true, limit: 1 } : { from: revision + 1 },
    );
    if (found === 'deleted') throw new StreamEndedError(stream);
    return found === 'missing' ? [] : found;
  }

  return {
    append,
    waitingBytes: () => waitingBytes,
  };
}

function take({ items }: Queue): Item[] {
  const taken: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (taken.length === APPEND_EVENTS || (taken.length > 0 && bytes + item.bytes > APPEND_BYTES)) break;
    items.delete(item);
    taken.push(item);
    bytes += item.bytes;
  }
  return taken;
}
