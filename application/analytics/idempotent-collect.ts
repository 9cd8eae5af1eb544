/** Stores collect requests with an `Idempotency-Key`, one stream each, so that only the first append succeeds. */

import { type HitsCollected, requestStream } from '../../domain/analytics/hit.js';
import { type Rejection, rejection } from '../../domain/shared/index.js';
import { contentSeed, type EventOrigin, keyReused, newEvent } from '../command/index.js';
import type { CommandContext, EventLog, Position, RecordedEvent } from '../ports/index.js';

export interface RequestPorts {
  readonly log: Pick<EventLog, 'append' | 'read' | 'retain'>;
  readonly origin: EventOrigin;
  readonly retentionDays: number;
  /** Called after every append, before the response. */
  readonly appended: (stream: string, position: Position, events: number) => void;
}

const DAY_SECONDS = 86_400;

const EXPIRED = rejection(
  'analytics/request-expired',
  'gone',
  'The Idempotency-Key was used before and its hits have expired',
);

export type RequestStore = ReturnType<typeof createRequestStore>;

/** A request in the event log. */
export interface StoredRequest {
  readonly position: Position;
  readonly isFirst: boolean;
  /** Why each payload was ignored in the first run; undefined if all were accepted. */
  readonly reasons: HitsCollected['data']['reasons'];
}

export function createRequestStore({ log, origin, retentionDays, appended }: RequestPorts) {
  /** Finds a stored request by its key. */
  async function find(context: CommandContext): Promise<StoredRequest | Rejection | undefined> {
    const found = await log.read(requestStream(context.commandId), { limit: 1 });
    const first = typeof found === 'string' ? undefined : (found[0] as RecordedEvent<HitsCollected> | undefined);
    if (!first) return undefined;
    const { position, metadata, data } = first;
    if (metadata.fingerprint !== context.fingerprint) return keyReused('analytics');
    return { position, isFirst: false, reasons: data.reasons };
  }

  return {
    find,

    /** Stores a request, or finds it stored. After `UnavailableError`, repeating the request is safe. */
    async store(events: readonly HitsCollected[], context: CommandContext): Promise<StoredRequest | Rejection> {
      const stream = requestStream(context.commandId);
      await log.retain(stream, { maxAgeSeconds: retentionDays * DAY_SECONDS });
      const all = events.map((event, index) =>
        newEvent(origin, stream, event, index, context, contentSeed(event, context)),
      );
      const result = await log.append(stream, 'none', all);
      if (result.outcome !== 'appended') return (await find(context)) ?? EXPIRED;
      appended(stream, result.position, all.length);
      return { position: result.position, isFirst: true, reasons: events[0]?.data.reasons };
    },
  };
}
