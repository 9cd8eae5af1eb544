/** Reads events exactly as stored, for the transparency log. */
import type { EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import type { StoredEvent } from '../../application/audit/index.js';
import type { Position } from '../../application/ports/index.js';
import { callStore, readAll } from './client.js';
import { FORWARDS } from './driver.js';
import { readHeadPosition } from './subscription.js';

/**
 * Returns the event with its type and data unchanged. The client parses JSON; serialised again it is the bytes that this
 * program has stored.
 */
export function decodeStoredEvent({ event }: ResolvedEvent): readonly StoredEvent[] {
  if (!event?.position) return [];
  const { id, streamId: stream, revision, type, position } = event;
  return [
    {
      id,
      stream,
      revision,
      position: position.commit,
      type,
      recordedAt: event.created.getTime(),
      data: contentOf(event.data),
      metadata: contentOf(event.metadata),
    },
  ];
}

const contentOf = (content: unknown): string | Uint8Array =>
  content instanceof Uint8Array ? content : content === undefined ? '' : JSON.stringify(content);

/** Returns the event at a position, if there is one, and the position of the last event of the log. */
export const createEventLookup = (client: EventStoreDBClient) => async (position: Position) => {
  const head = (await readHeadPosition(client)) ?? 0n;
  if (position > head) return { head };
  const fromPosition = { commit: position, prepare: position };
  const [found] = await readAll(() => client.readAll({ direction: FORWARDS, fromPosition, maxCount: 1 }));
  const [event] = found ? decodeStoredEvent(found) : [];
  return { head, event: event?.position === position ? event : undefined };
};

/** Whether a stream has a rule that removes its events: a number of them, an age or a first revision. */
export const createRetentionLookup = (client: EventStoreDBClient) => async (stream: string) => {
  const { metadata = {} } = await callStore(() => client.getStreamMetadata(stream));
  return [metadata.maxCount, metadata.maxAge, metadata.truncateBefore].some((limit) => limit !== undefined);
};
