/** Requests with an `Idempotency-Key`: each in a stream of its own, so that the store says who was first. */
import type { HitsCollected } from '../../domain/analytics/hit-batch.js';
import { requestStream } from '../../domain/analytics/hit-batch.js';
import type { Rejection } from '../../domain/shared/index.js';
import { contentSeed, type EventOrigin, keyReused, newEvent } from '../command/index.js';
import type { CommandContext, EventLog, Position, RecordedEvent } from '../ports/index.js';

export interface RequestPorts {
  readonly log: Pick<EventLog, 'append' | 'read' | 'retain'>;
  readonly origin: EventOrigin;
  readonly retentionDays: number;
  /** Told of every append before anybody is answered. */
  readonly appended: (stream: string, position: Position, events: number) => void;
}

const DAY_SECONDS = 86_400;

const EXPIRED: Rejection = {
  rejected: 'analytics/request-expired',
  kind: 'gone',
  detail: 'This Idempotency-Key was used before, and its hits are no longer kept',
};

export type RequestStore = ReturnType<typeof createRequests>;

/** A request as it stands in the log. */
export interface StoredRequest {
  readonly position: Position;
  readonly isFirst: boolean;
  /** Why each payload was ignored, as it was told first; undefined where all were counted. */
  readonly reasons: HitsCollected['data']['reasons'];
}

export function createRequests({ log, origin, retentionDays, appended }: RequestPorts) {
  /** What was stored under its key before; undefined for nothing. */
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

    /** Or finds it stored. Rejects with `Unavailable`: the same request again finds out what became of it. */
    async store(events: readonly HitsCollected[], context: CommandContext): Promise<StoredRequest | Rejection> {
      const stream = requestStream(context.commandId);
      await log.retain(stream, { maxAgeSeconds: retentionDays * DAY_SECONDS });
      const all = events.map((event, index) =>
        newEvent(origin, stream, event, index, context, contentSeed(event, context)),
      );
      const done = await log.append(stream, 'none', all);
      if (done.outcome !== 'appended') return (await find(context)) ?? EXPIRED;
      appended(stream, done.position, all.length);
      return { position: done.position, isFirst: true, reasons: events[0]?.data.reasons };
    },
  };
}
