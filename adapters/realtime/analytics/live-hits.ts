/** Streams a site's hits to connected dashboards, starting with those of the last minutes. */
import { LRUCache } from 'lru-cache';
import { estimateBytes } from '../../../application/concurrency/index.js';
import { maxPosition } from '../../../application/consistency/index.js';
import type { Clock, Position, RecordedEvent } from '../../../application/ports/index.js';
import type { LiveEvent } from '../../../application/subscription/index.js';
import type { catalog, Hit } from '../../../domain/analytics/catalog.js';
import type { HitsCollected } from '../../../domain/analytics/hit.js';
import { createRing, RING_BYTES, type RingItem } from '../relay/client-stream.js';
import { createConnections, type RelayObserver } from '../relay/connections.js';
import { type Frame, frame, type Sink } from '../relay/sink.js';

export type LiveHits = ReturnType<typeof createLiveHits>;

export interface LiveSubscription {
  readonly instance: string;
  /** Resume cursor: only later hits are sent. */
  readonly after?: Position | undefined;
  readonly session?: { readonly sessionId: string; readonly expiresAt: number } | undefined;
}

export interface LiveOptions {
  /** Decrypts the hits of an event; empty if erased. Rejects if the key store is unavailable. */
  readonly hitsOf: (event: RecordedEvent<HitsCollected>) => Promise<readonly Hit[]>;
  /** Every event after this position will be published. */
  readonly from: Position;
  /** Position of the last event in the log. */
  readonly head: () => Promise<Position>;
  readonly clock: Clock;
  readonly failed: (error: unknown) => void;
  readonly observe?: RelayObserver;
}

interface RingHit extends RingItem {
  /** Encrypted. */
  readonly event: RecordedEvent<HitsCollected>;
}

/** Age of the hits that a new connection receives first. */
export const LIVE_WINDOW_MS = 5 * 60_000;

const RING_LIMITS = { items: 60_000, bytes: RING_BYTES };
/** Decrypted events cached for connections at the same position. */
const MAX_DECRYPTED = 4;
/** Recently ended sites and sessions, for requests authenticated just before the end. */
const MAX_ENDED = 1000;

export function createLiveHits({ hitsOf, from, head, clock, failed, observe }: LiveOptions) {
  const ring = createRing<RingHit>({ ...RING_LIMITS, from });
  const connections = createConnections({ ring, head, clock, failed, observe });
  const decrypted = new LRUCache<RingHit, Promise<readonly Frame[]>>({ max: MAX_DECRYPTED });
  const ended = new LRUCache<string, Frame>({ max: MAX_ENDED });

  function decrypt(item: RingHit): Promise<readonly Frame[]> {
    const cached = decrypted.get(item);
    if (cached) return cached;
    const pending = hitsOf(item.event).then((hits) =>
      hits.map((hit, index) =>
        // Only the last hit of an event carries the cursor, so an interrupted event is repeated as a whole.
        frame(messageOf(hit, item.event.data.collectedAt), index < hits.length - 1 ? undefined : item.position),
      ),
    );
    decrypted.set(item, pending);
    pending.catch(() => decrypted.delete(item));
    return pending;
  }

  /** Position just before the first hit within the live window. */
  function startPosition(): Position | undefined {
    const oldest = clock.now() - LIVE_WINDOW_MS;
    const first = ring.since(ring.horizon).find(({ event }) => event.data.collectedAt >= oldest);
    return first && first.position - 1n;
  }

  function end(key: string, last: Frame) {
    ended.set(key, last);
    connections.end(key, last);
  }

  return {
    /** Takes the events of the service in log order; does not wait. */
    publish(event: LiveEvent<typeof catalog>) {
      const { position } = event;
      if (position <= connections.latest()) return;
      if (event.type === 'HitsCollected') {
        // Imported or delayed hits are not live.
        if (event.data.collectedAt < clock.now() - LIVE_WINDOW_MS) return connections.advance(position);
        const bytes = estimateBytes(event);
        return connections.publish({ position, bytes, event }, [event.data.instance]);
      }
      connections.advance(position);
      if (event.type === 'SessionEnded') end(keyOf(event.data), SIGNED_OUT);
      if (event.type === 'SessionRefreshed') connections.until(keyOf(event.data), event.data.expiresAt);
      if (event.type !== 'SiteDeleted') return;
      const { instance } = event.data;
      decrypted.clear();
      ring.revise((item) => (item.event.data.instance === instance ? undefined : item));
      end(instance, SITE_DELETED);
    },

    connect({ instance, after, session }: LiveSubscription, sink: Sink) {
      const keys = [instance, ...(session ? [keyOf(session)] : [])];
      const endMessage = keys.map((key) => ended.get(key)).find((last) => last);
      if (endMessage) {
        sink.send(endMessage);
        return sink.end('over');
      }
      const pick = (item: RingHit) => (item.event.data.instance === instance ? decrypt(item) : []);
      const first = startPosition();
      // A resumed stream does not go back beyond the live window.
      const since = first === undefined || after === undefined ? first : maxPosition(first, after);
      const until = session && { at: session.expiresAt, message: { type: 'SIGNED_OUT' } };
      connections.connect({ keys, sink, pick }, { after: since, until });
    },

    sizeBytes: () => ring.bytes,
    close: connections.close,
  };
}

const SITE_DELETED = frame({ type: 'SITE_DELETED' });
const SIGNED_OUT = frame({ type: 'SIGNED_OUT' });

const keyOf = ({ sessionId }: { readonly sessionId: string }) => `session:${sessionId}`;

const messageOf = ({ event, isInternal: _, ...hit }: Hit, collectedAt: number) => ({
  type: 'HIT',
  timestamp: new Date(collectedAt).toISOString(),
  kind: event === undefined ? 'pageview' : 'event',
  ...(event !== undefined && { event }),
  ...hit,
  ...(hit.properties && {
    properties: Object.fromEntries(hit.properties.map(({ name, value }) => [name, value])),
  }),
});
