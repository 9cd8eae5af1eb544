/** Reads events exactly as stored, for the transparency log. */
import type { EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import type { StoredEvent } from '../../application/audit/index.js';
import type { Position } from '../../application/ports/index.js';
import { callStore, readAll } from './client.js';
import { FORWARDS } from './driver.js';
import { firstRecordOf, type LogPositions, OWN_POSITIONS } from './log-positions.js';
import { isRefusedPosition, readHeadPosition } from './subscription.js';

/**
 * Returns the event with its type and data unchanged, and with the position, time and metadata of its first record. The
 * client parses JSON; serialised again it is the bytes that this program has stored.
 */
export function decodeStoredEvent({ event }: ResolvedEvent): readonly StoredEvent[] {
  if (!event?.position) return [];
  const { id, streamId: stream, revision, type } = event;
  const { position, recordedAt, metadata } = firstRecordOf(event);
  return [
    {
      id,
      stream,
      revision,
      position,
      type,
      recordedAt,
      data: contentOf(event.data),
      metadata: contentOf(metadata),
    },
  ];
}

const contentOf = (content: unknown): string | Uint8Array =>
  content instanceof Uint8Array ? content : content === undefined ? '' : JSON.stringify(content);

type LoadPositions = () => Promise<LogPositions>;

/**
 * Returns the event at a position of the store, if there is one, and the position of the last event; `isRefused`: the log
 * has no event there and never had. With `positions` of the log it finds no copied event.
 */
export const createEventLookup =
  (client: EventStoreDBClient, positions: LoadPositions = async () => OWN_POSITIONS) =>
  async (position: Position) => {
    const head = (await readHeadPosition(client)) ?? 0n;
    if (position > head || (await positions()).isCopied(position)) return { head };
    const fromPosition = { commit: position, prepare: position };
    try {
      const [found] = await readAll(() => client.readAll({ direction: FORWARDS, fromPosition, maxCount: 1 }));
      const [event] = found ? decodeStoredEvent(found) : [];
      return { head, event: found?.event?.position?.commit === position ? event : undefined };
    } catch (error) {
      if (isRefusedPosition(error)) return { head, isRefused: true };
      throw error;
    }
  };

/** Whether a stream has a rule that removes its events: a number of them, an age or a first revision. */
export const createRetentionLookup = (client: EventStoreDBClient) => async (stream: string) => {
  const { metadata = {} } = await callStore(() => client.getStreamMetadata(stream));
  return [metadata.maxCount, metadata.maxAge, metadata.truncateBefore].some((limit) => limit !== undefined);
};
