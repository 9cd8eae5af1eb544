/** Stores a note with the store's timestamp in the metadata of a stream; only the latest is retained. */
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { TimestampRegister } from '../../application/time/index.js';
import type { createAppendDeadline } from './append-deadline.js';
import { readAll } from './call.js';
import { BACKWARDS, END, StreamNotFoundError } from './driver.js';

const NEWEST = { direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const;

export const timestampRegister = <Note extends object>(
  client: EventStoreDBClient,
  withAppendDeadline: ReturnType<typeof createAppendDeadline>,
  stream: string,
): TimestampRegister<Note> => ({
  async set(note) {
    await withAppendDeadline((deadline) => client.setStreamMetadata(stream, { maxCount: 1, ...note }, { deadline }));
  },
  async read() {
    try {
      const [resolved] = await readAll(() => client.readStream(`$$${stream}`, NEWEST));
      const { created, data } = resolved?.event ?? {};
      return created && { ...(data as Note), at: created.getTime() };
    } catch (error) {
      if (error instanceof StreamNotFoundError) return undefined;
      throw error;
    }
  },
});
