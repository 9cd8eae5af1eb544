/** Requests with an `Idempotency-Key`: each in a stream of its own, so that the store says who was first. */
import type { HitsCollected } from '../../domain/analytics/traffic.js';
import { requestStream } from '../../domain/analytics/traffic.js';
import type { Rejection } from '../../domain/shared/decider.js';
import { factSeed, newEvent, type Origin } from '../command/new-event.js';
import { misusedKey } from '../command/repetition.js';
import type { CommandContext, EventLog, Position } from '../ports.js';

export interface RequestPorts {
  readonly log: Pick<EventLog, 'append' | 'read' | 'retain'>;
  readonly origin: Origin;
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

export type Requests = ReturnType<typeof createRequests>;

/** Stores a request, of which `isFirst` is told then, or finds it stored. Rejects with `Unavailable`: the same request again finds out what became of it. */
export const createRequests =
  ({ log, origin, retentionDays, appended }: RequestPorts) =>
  async (
    events: readonly HitsCollected[],
    context: CommandContext,
    isFirst: () => void,
  ): Promise<Position | Rejection> => {
    const stream = requestStream(context.commandId);
    await log.retain(stream, { maxAgeSeconds: retentionDays * DAY_SECONDS });
    const all = events.map((event, index) =>
      newEvent(origin, stream, event, index, context, factSeed(event, context)),
    );
    const done = await log.append(stream, 'none', all);
    if (done.outcome === 'appended') {
      appended(stream, done.position, all.length);
      isFirst();
      return done.position;
    }
    const found = await log.read(stream, { limit: 1 });
    const first = typeof found === 'string' ? undefined : found[0];
    if (!first) return EXPIRED;
    return first.metadata.fingerprint === context.fingerprint ? first.position : misusedKey('analytics');
  };
