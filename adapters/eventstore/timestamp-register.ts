/** What is noted at the store with the time at which it was taken: of a stream's metadata the newest event is kept. */
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { TimeMark } from '../../application/time/index.js';
import type { createAppendDeadline } from './append-deadline.js';
import { readAll } from './call.js';
import { BACKWARDS, END, StreamNotFoundError } from './driver.js';

const NEWEST = { direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const;

export const timestampRegister = <Note extends object>(
  client: EventStoreDBClient,
  inTime: ReturnType<typeof createAppendDeadline>,
  stream: string,
): TimeMark<Note> => ({
  async set(note) {
    await inTime((deadline) => client.setStreamMetadata(stream, { maxCount: 1, ...note }, { deadline }));
  },
  async read() {
    try {
      const [told] = await readAll(() => client.readStream(`$$${stream}`, NEWEST));
      const { created, data } = told?.event ?? {};
      return created && { ...(data as Note), at: created.getTime() };
    } catch (error) {
      if (error instanceof StreamNotFoundError) return undefined;
      throw error;
    }
  },
});
