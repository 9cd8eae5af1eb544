/** Clients of an installation: they repeat a request until a node answers, and follow an event stream from node to node. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answered, EventStream, type Frame } from '../../support/http-spec.js';
import type { Installation } from './installation.js';

/** A frozen node accepts connections and never answers. */
export const ANSWER_MS = 12_000;
const RETRY_MS = 200;
const GIVE_UP_MS = 300_000;
const POLL_MS = 20;

/** Sends a request to any node until one answers other than "later". Rejects after five minutes. */
export async function untilAnswered(
  at: Installation,
  service: string,
  request: (base: string) => Promise<Answered>,
): Promise<Answered> {
  const deadline = performance.now() + GIVE_UP_MS;
  while (performance.now() < deadline) {
    const base = at.url(service);
    const answer = base && (await Promise.race([request(base).catch(() => undefined), sleep(ANSWER_MS)]));
    if (answer && answer.status < 500 && answer.status !== 401 && answer.status !== 429) return answer;
    await sleep(RETRY_MS);
  }
  throw new Error(`${service}: a request was not answered for ${GIVE_UP_MS / 1000} s`);
}

export interface Follower {
  /** Frames received so far, over all connections. */
  readonly frames: readonly Frame[];
  /** Cursor of the last one. */
  cursor(): string | undefined;
  close(): Promise<void>;
}

/** Follows the event stream of the chat, as a client does that resumes with its last cursor on any node. */
export function followEvents(at: Installation, token: string, after?: string): Follower {
  const frames: Frame[] = [];
  let cursor = after;
  let isClosed = false;

  async function follow(): Promise<void> {
    while (!isClosed) {
      const base = at.url('chat');
      const opening = base
        ? EventStream.to(base, { token, headers: cursor ? { 'last-event-id': cursor } : {} })
        : Promise.reject(new Error('no node runs'));
      const stream = await Promise.race([opening.catch(() => undefined), sleep(ANSWER_MS)]);
      if (!stream) {
        await sleep(RETRY_MS);
        continue;
      }
      let seen = 0;
      while (!isClosed && !(stream.ended && seen === stream.resumable)) {
        await sleep(POLL_MS);
        // Later frames come again: of several events made by one fact, only the last has a cursor.
        for (; seen < stream.resumable; seen++) frames.push(stream.frames[seen]!);
        cursor = stream.ids.at(-1) ?? cursor;
      }
      stream.close();
    }
  }

  const following = follow();
  return {
    frames,
    cursor: () => cursor,
    async close() {
      isClosed = true;
      await following;
    },
  };
}
