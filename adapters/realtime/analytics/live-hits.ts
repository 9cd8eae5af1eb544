/** Hits of a site as they come, those of the last minutes first: for who looks on. */
import { LRUCache } from 'lru-cache';
import { maxPosition } from '../../../application/consistency/index.js';
import { estimateBytes } from '../../../application/memory/estimate-size.js';
import type { Clock, Position, RecordedEvent } from '../../../application/ports/index.js';
import type { LiveEvent } from '../../../application/subscription/index.js';
import type { catalog, Hit } from '../../../domain/analytics/catalog.js';
import type { HitsCollected } from '../../../domain/analytics/hit-batch.js';
import { createConnections, type RelayObserver } from '../relay/connections.js';
import { createRing, RING_BYTES, type RingItem } from '../relay/ring.js';
import { type Frame, frame, type Sink } from '../relay/sink.js';

export interface LiveHits {
  /** Takes the events of the service in log order; does not wait. */
  publish(event: LiveEvent<typeof catalog>): void;
  connect(looking: LiveSubscription, sink: Sink): void;
  /** What is kept, in bytes. */
  kept(): number;
  close(): void;
}

export interface LiveSubscription {
  /** One life of a site. */
  readonly instance: string;
  /** The cursor of who comes back: of the last minutes, what came after it. */
  readonly after?: Position | undefined;
  /** With which the stream ends. */
  readonly session?: { readonly sessionId: string; readonly expiresAt: number } | undefined;
}

export interface LiveOptions {
  /** The hits of an event, in its order; none once they are erased. Rejects when it can't be known now. */
  readonly hitsOf: (event: RecordedEvent<HitsCollected>) => Promise<readonly Hit[]>;
  /** Every event after this position will be published. */
  readonly from: Position;
  /** The position of the log's last event. */
  readonly head: () => Promise<Position>;
  readonly clock: Clock;
  /** An event could not be opened just now. */
  readonly failed: (error: unknown) => void;
  readonly observe?: RelayObserver;
}

interface RingHit extends RingItem {
  /** Still sealed. */
  readonly event: RecordedEvent<HitsCollected>;
}

/** Of which the hits are told to who begins to look on. */
export const LIVE_WINDOW_MS = 5 * 60_000;

const KEPT = { items: 60_000, bytes: RING_BYTES };
/** Events kept open, for the several who are at the same place. */
const KEPT_OPEN = 4;
/** What ended a moment ago, while somebody was let in. */
const KEPT_ENDED = 1000;

export function createLive({ hitsOf, from, head, clock, failed, observe }: LiveOptions): LiveHits {
  const ring = createRing<RingHit>({ ...KEPT, from });
  const connections = createConnections({ ring, head, clock, failed, observe });
  const opened = new LRUCache<RingHit, Promise<readonly Frame[]>>({ max: KEPT_OPEN });
  const ended = new LRUCache<string, Frame>({ max: KEPT_ENDED });

  function open(kept: RingHit): Promise<readonly Frame[]> {
    const known = opened.get(kept);
    if (known) return known;
    const opening = hitsOf(kept.event).then((hits) =>
      hits.map((hit, index) =>
        // Who breaks off within an event gets all of it again.
        frame(messageOf(hit, kept.event.data.collectedAt), index < hits.length - 1 ? undefined : kept.position),
      ),
    );
    opened.set(kept, opening);
    opening.catch(() => opened.delete(kept));
    return opening;
  }

  /** Just before the first that is young enough. */
  function begin(): Position | undefined {
    const oldest = clock.now() - LIVE_WINDOW_MS;
    const first = ring.since(ring.horizon).find(({ event }) => event.data.collectedAt >= oldest);
    return first && first.position - 1n;
  }

  function end(key: string, last: Frame) {
    ended.set(key, last);
    connections.end(key, last);
  }

  return {
    publish(event) {
      const { position } = event;
      if (position <= connections.latest()) return;
      if (event.type === 'HitsCollected') {
        // Imported, or long waited for: it is not what happens now.
        if (event.data.collectedAt < clock.now() - LIVE_WINDOW_MS) return connections.advance(position);
        const bytes = estimateBytes(event);
        return connections.publish({ position, bytes, event }, [event.data.instance]);
      }
      connections.advance(position);
      if (event.type === 'SessionEnded') end(keyOf(event.data), SIGNED_OUT);
      if (event.type === 'SessionRenewed') connections.until(keyOf(event.data), event.data.expiresAt);
      if (event.type !== 'SiteDeleted') return;
      const { instance } = event.data;
      opened.clear();
      ring.revise((item) => (item.event.data.instance === instance ? undefined : item));
      end(instance, OVER);
    },

    connect({ instance, after, session }, sink) {
      const keys = [instance, ...(session ? [keyOf(session)] : [])];
      const over = keys.map((key) => ended.get(key)).find((last) => last);
      if (over) {
        sink.send(over);
        return sink.end('over');
      }
      const pick = (kept: RingHit) => (kept.event.data.instance === instance ? open(kept) : []);
      const first = begin();
      // Beyond the last minutes nobody who comes back is missing anything.
      const since = first === undefined || after === undefined ? first : maxPosition(first, after);
      const until = session && { at: session.expiresAt, message: { type: 'SIGNED_OUT' } };
      connections.connect({ keys, sink, pick }, { after: since, until });
    },

    kept: () => ring.bytes,
    close: connections.close,
  };
}

const OVER = frame({ type: 'SITE_DELETED' });
const SIGNED_OUT = frame({ type: 'SIGNED_OUT' });

const keyOf = ({ sessionId }: { readonly sessionId: string }) => `session:${sessionId}`;

const messageOf = ({ event, ...hit }: Hit, collectedAt: number) => ({
  type: 'HIT',
  timestamp: new Date(collectedAt).toISOString(),
  kind: event === undefined ? 'pageview' : 'event',
  ...(event !== undefined && { event }),
  ...hit,
  ...(hit.properties && {
    properties: Object.fromEntries(hit.properties.map(({ name, value }) => [name, value])),
  }),
});
