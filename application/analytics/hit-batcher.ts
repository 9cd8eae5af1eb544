/** Group commit of hits: those that a site gets within some milliseconds become one event. */
import { LRUCache } from 'lru-cache';
import type { Hit } from '../../domain/analytics/catalog.js';
import {
  dayOf,
  hitsCollected,
  type SiteInstance,
  trafficStream,
  writableDay,
} from '../../domain/analytics/hit-batch.js';
import {
  emptySketch,
  isCounted,
  REGISTERS,
  type Sketch,
  type Visitor,
  addVisitors,
} from '../../domain/analytics/hyperloglog.js';
import { RETENTION, retention } from '../../domain/analytics/retention.js';
import {
  type AggregateStore,
  type Appender,
  type EventOrigin,
  newCommandId,
  newEvent,
  StreamEndedError,
} from '../command/index.js';
import type { Cache, Position } from '../ports/index.js';
import { retentionAggregate } from './aggregates.js';

/** Hits wait for each other no longer; an append that is under way may take longer. */
export const GATHER_MS = 5;
/** A group goes at once when it has come to this. In characters of its texts, of which none takes more than three bytes. */
const GROUP_CHARACTERS = 128 * 1024;
const CHARACTER_BYTES = 3;
/** Of a hit, besides its texts. */
const HIT_CHARACTERS = 120;
const GROUP_HITS = 2000;
const PROPERTY_CHARACTERS = 24;
const SKETCHES_BYTES = 8 * 1024 * 1024;
const SKETCH_BYTES = 200;
const VISITOR_BYTES = 80;

/** A hit, and who it is of: nobody, where they can not be told apart. */
export interface VisitorHit {
  readonly hit: Hit;
  readonly visitor: Visitor | undefined;
}

interface Batch {
  readonly site: SiteInstance;
  /** When its first hit came, Unix ms. */
  readonly at: number;
  readonly correlationId: string;
  readonly hits: Hit[];
  readonly visitors: Set<Visitor>;
  characters: number;
  close(): void;
  readonly flushed: Promise<Position>;
}

export interface HitBatcherPorts {
  readonly appender: Appender;
  readonly streams: Pick<AggregateStore, 'reload'>;
  readonly origin: EventOrigin;
  /** Records are kept for those who look for a fault. */
  readonly storeRaw?: boolean;
}

export type HitBatcher = ReturnType<typeof createHitBatcher>;

export function createHitBatcher({ appender, streams, origin, storeRaw }: HitBatcherPorts) {
  const groups = new Map<string, Batch>();
  /** By stream: whom this node has told the log of on a day. Who is not remembered is told once more, and counted once. */
  const sketches = new LRUCache<string, Sketch>({
    maxSize: SKETCHES_BYTES,
    sizeCalculation: (sketch) => SKETCH_BYTES + ('exact' in sketch ? sketch.exact.size * VISITOR_BYTES : REGISTERS),
  });

  /** As it was when a day turned out to have ended. */
  let ended = retention.initialState;

  /** The hits of one request at a time. Resolves when they are flushed; rejects with `Unavailable`. */
  function add(site: SiteInstance, now: number, counted: readonly VisitorHit[], correlationId: string): Promise<Position> {
    const stream = trafficStream(site.instance, dayOf(now));
    const group = groups.get(stream) ?? opened(stream, site, now, correlationId);
    for (const { hit, visitor } of counted) {
      group.hits.push(hit);
      group.characters += charactersOf(hit);
      if (visitor !== undefined) group.visitors.add(visitor);
    }
    if (group.characters >= GROUP_CHARACTERS || group.hits.length >= GROUP_HITS) group.close();
    return group.flushed;
  }

  function opened(stream: string, site: SiteInstance, at: number, correlationId: string): Batch {
    let over = () => {};
    const closed = new Promise<void>((resolve) => {
      over = resolve;
    });
    const timer = setTimeout(() => group.close(), GATHER_MS);
    const group: Batch = {
      site,
      at,
      correlationId,
      hits: [],
      visitors: new Set(),
      characters: 0,
      // At once: the next hit begins another one.
      close() {
        clearTimeout(timer);
        groups.delete(stream);
        over();
      },
      flushed: closed.then(() => flush(stream, group)),
    };
    groups.set(stream, group);
    return group;
  }

  async function flush(
    stream: string,
    { site, at, correlationId, hits, visitors, characters }: Batch,
  ): Promise<Position> {
    const fresh = freshOf(stream, visitors);
    // Of the group, and of nobody's request: no address, no session, no key of a caller.
    const context = { commandId: newCommandId(), actor: 'analytics.collect', correlationId };
    const data = hitsCollected(site, at, hits, fresh, storeRaw);
    const bytes = characters * CHARACTER_BYTES + fresh.length * VISITOR_BYTES;
    const store = (kept: string) => {
      const event = newEvent(origin, kept, data, 0, context);
      return appender.append(kept, [{ event, bytes }]);
    };
    const kept = keptIn(site, at);
    const position = await store(kept).catch(async (error) => {
      if (!(error instanceof StreamEndedError)) throw error;
      ended = (await streams.reload(retentionAggregate, RETENTION)).state;
      const next = keptIn(site, at);
      // It is the site that is deleted.
      if (next === kept) throw error;
      return store(next);
    });
    // Only now: of an event that never came to be nobody was told anything.
    recordVisitors(stream, fresh);
    return position;
  }

  const keptIn = (site: SiteInstance, at: number) => trafficStream(site.instance, writableDay(dayOf(at), ended.before));

  function freshOf(stream: string, visitors: Iterable<Visitor>): readonly Visitor[] {
    const told = sketches.get(stream) ?? emptySketch;
    return [...visitors].filter((visitor) => !isCounted(told, visitor));
  }

  function recordVisitors(stream: string, fresh: readonly Visitor[]): void {
    if (fresh.length > 0) sketches.set(stream, addVisitors(sketches.get(stream) ?? emptySketch, fresh));
  }

  return {
    add,
    /** For hits that go into the log by themselves: of these visitors, whom this node has not told it of on that day. */
    fresh: (site: SiteInstance, now: number, visitors: Iterable<Visitor>): readonly Visitor[] =>
      freshOf(trafficStream(site.instance, dayOf(now)), visitors),
    /** They are in the log. */
    told: (site: SiteInstance, now: number, fresh: readonly Visitor[]): void =>
      recordVisitors(trafficStream(site.instance, dayOf(now)), fresh),
    /** The day is over: nobody who came on it is remembered. */
    forget(day: string): void {
      for (const stream of [...sketches.keys()]) if (stream.endsWith(`-${day}`)) sketches.delete(stream);
    },
    cache: {
      name: 'analytics.visitors',
      limitBytes: SKETCHES_BYTES,
      bytes: () => sketches.calculatedSize,
    } satisfies Cache,
  };
}

/** About, and no less: to write a hit only to measure it costs as much as to seal it. */
function charactersOf({ path, event, referrer, campaign, properties }: Hit): number {
  let sum = HIT_CHARACTERS + path.length + (event?.length ?? 0) + (referrer?.length ?? 0);
  if (campaign) sum += campaign.source.length + campaign.medium.length + campaign.campaign.length;
  for (const { name, value } of properties ?? []) sum += PROPERTY_CHARACTERS + name.length + String(value).length;
  return sum;
}
