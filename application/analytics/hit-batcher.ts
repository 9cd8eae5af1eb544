/** Batches hits: all hits of a site within a few milliseconds become one event. */
import { LRUCache } from 'lru-cache';
import type { Hit } from '../../domain/analytics/catalog.js';
import { dayOf, hitsCollected, type SiteInstance, trafficStream, writableDay } from '../../domain/analytics/hit.js';
import {
  addVisitors,
  emptySketch,
  isCounted,
  REGISTERS,
  type Sketch,
  type Visitor,
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

/** Milliseconds a batch stays open. */
export const BATCH_MS = 5;
/** Characters at which a batch is flushed early. */
const MAX_BATCH_CHARACTERS = 128 * 1024;
/** Upper bound of the UTF-8 bytes per UTF-16 code unit. */
const CHARACTER_BYTES = 3;
/** Overhead per hit beside its texts. */
const HIT_CHARACTERS = 120;
const MAX_BATCH_HITS = 2000;
const PROPERTY_CHARACTERS = 24;
const SKETCHES_BYTES = 8 * 1024 * 1024;
const SKETCH_BYTES = 200;
const VISITOR_BYTES = 80;

/** A hit and its visitor; undefined if visitors cannot be distinguished. */
export interface VisitorHit {
  readonly hit: Hit;
  readonly visitor: Visitor | undefined;
}

interface Batch {
  readonly site: SiteInstance;
  /** Arrival of the first hit, Unix ms. */
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
  readonly aggregates: Pick<AggregateStore, 'reload'>;
  readonly origin: EventOrigin;
  /** Whether hits are also stored as raw records, for debugging. */
  readonly storeRaw?: boolean;
}

export type HitBatcher = ReturnType<typeof createHitBatcher>;

export function createHitBatcher({ appender, aggregates, origin, storeRaw }: HitBatcherPorts) {
  const batches = new Map<string, Batch>();
  /** By stream: visitors this node has written. Evicted ones are written again, which does not change counts. */
  const sketches = new LRUCache<string, Sketch>({
    maxSize: SKETCHES_BYTES,
    sizeCalculation: (sketch) => SKETCH_BYTES + ('exact' in sketch ? sketch.exact.size * VISITOR_BYTES : REGISTERS),
  });

  /** Retention state as of the last append to an expired day. */
  let ended = retention.initialState;

  /** Adds the hits of a request. Resolves when they are flushed; rejects with `UnavailableError`. */
  function add(site: SiteInstance, now: number, visitorHits: readonly VisitorHit[], correlationId: string) {
    const stream = trafficStream(site.instance, dayOf(now));
    const batch = batches.get(stream) ?? openBatch(stream, site, now, correlationId);
    for (const { hit, visitor } of visitorHits) {
      batch.hits.push(hit);
      batch.characters += charactersOf(hit);
      if (visitor !== undefined) batch.visitors.add(visitor);
    }
    if (batch.characters >= MAX_BATCH_CHARACTERS || batch.hits.length >= MAX_BATCH_HITS) batch.close();
    return batch.flushed;
  }

  function openBatch(stream: string, site: SiteInstance, at: number, correlationId: string): Batch {
    let release = () => {};
    const closed = new Promise<void>((resolve) => {
      release = resolve;
    });
    const timer = setTimeout(() => batch.close(), BATCH_MS);
    const batch: Batch = {
      site,
      at,
      correlationId,
      hits: [],
      visitors: new Set(),
      characters: 0,
      // Synchronous, so that the next hit opens a new batch.
      close() {
        clearTimeout(timer);
        batches.delete(stream);
        release();
      },
      flushed: closed.then(() => flush(stream, batch)),
    };
    batches.set(stream, batch);
    return batch;
  }

  async function flush(
    stream: string,
    { site, at, correlationId, hits, visitors, characters }: Batch,
  ): Promise<Position> {
    const unwritten = unwrittenOf(stream, visitors);
    // Metadata of the batch, not of a request: no address, session or idempotency key.
    const context = { commandId: newCommandId(), actor: 'analytics.collect', correlationId };
    const data = hitsCollected(site, at, hits, unwritten, storeRaw);
    const bytes = characters * CHARACTER_BYTES + unwritten.length * VISITOR_BYTES;
    const store = (target: string) => {
      const event = newEvent(origin, target, data, 0, context);
      return appender.append(target, [{ event, bytes }]);
    };
    const target = writableStream(site, at);
    const position = await store(target).catch(async (error) => {
      if (!(error instanceof StreamEndedError)) throw error;
      ended = (await aggregates.reload(retentionAggregate, RETENTION)).state;
      const next = writableStream(site, at);
      // The same stream again: the site itself was deleted.
      if (next === target) throw error;
      return store(next);
    });
    // Only after the append, as a failed event records no visitors.
    markWritten(stream, unwritten);
    return position;
  }

  const writableStream = (site: SiteInstance, at: number) =>
    trafficStream(site.instance, writableDay(dayOf(at), ended.before));

  function unwrittenOf(stream: string, visitors: Iterable<Visitor>): readonly Visitor[] {
    const written = sketches.get(stream) ?? emptySketch;
    return [...visitors].filter((visitor) => !isCounted(written, visitor));
  }

  function markWritten(stream: string, unwritten: readonly Visitor[]): void {
    if (unwritten.length > 0) sketches.set(stream, addVisitors(sketches.get(stream) ?? emptySketch, unwritten));
  }

  return {
    add,
    /** Filters visitors that this node has not written on that day, for hits appended without a batch. */
    newVisitors: (site: SiteInstance, now: number, visitors: Iterable<Visitor>): readonly Visitor[] =>
      unwrittenOf(trafficStream(site.instance, dayOf(now)), visitors),
    /** Notes that these visitors were written. */
    recordVisitors: (site: SiteInstance, now: number, unwritten: readonly Visitor[]): void =>
      markWritten(trafficStream(site.instance, dayOf(now)), unwritten),
    /** Drops the visitors of an ended day. */
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

/** Upper estimate: serializing a hit to measure it would cost as much as encrypting it. */
function charactersOf({ path, event, referrer, campaign, properties }: Hit): number {
  let sum = HIT_CHARACTERS + path.length + (event?.length ?? 0) + (referrer?.length ?? 0);
  if (campaign) sum += campaign.source.length + campaign.medium.length + campaign.campaign.length;
  for (const { name, value } of properties ?? []) sum += PROPERTY_CHARACTERS + name.length + String(value).length;
  return sum;
}
