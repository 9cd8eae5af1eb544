/** The live feed of a node: every event of its services, once, to everything in the process that must know. */
import type { Catalog } from '../domain/shared/catalog.js';
import { pause } from './pause.js';
import type { Follow, Log, Position, RecordedEvent, Reveal, RevealedEvent } from './ports.js';
import type { Streams } from './streams.js';
import type { CachingVault } from './vault.js';

export interface FeedOptions {
  readonly catalogs: readonly Catalog[];
  readonly follow: Follow;
  /** A little before the head of the log, so that streams can be resumed across a restart of this node. */
  readonly from: Position | 'start';
  readonly reveal: Reveal;
  readonly streams: Streams;
  readonly vault: CachingVault;
  /** Fans an event out to the clients of its service. Must not wait for anything. */
  readonly publish: (service: string, event: RevealedEvent) => void;
  /** Another build of a read model is served from this event on. */
  readonly switched: (event: RecordedEvent) => void;
  readonly logger: Log;
  readonly signal: AbortSignal;
}

const RETRY_MS = 1000;

/** `ready` resolves when the feed has been at the head of the log; `stopped` when the signal has ended it. */
export function runFeed(options: FeedOptions): {
  readonly ready: Promise<void>;
  readonly stopped: Promise<void>;
} {
  const { catalogs, follow, from, reveal, streams, vault, publish, switched, logger, signal } = options;
  const catalogOf = new Map(catalogs.map((catalog) => [catalog.service, catalog]));
  const prefixes = [...catalogOf.keys()].map((service) => `${service}.`);
  let atHead = () => {};
  const ready = new Promise<void>((resolve) => {
    atHead = resolve;
  });

  async function take(event: RecordedEvent) {
    streams.observe(event);
    if (event.type === 'ProjectionSwitched') switched(event);
    const service = event.stream.slice(0, event.stream.indexOf('.'));
    const catalog = catalogOf.get(service);
    if (!catalog || event.type.startsWith('$')) return;
    const erased = catalog.events[event.type]?.erases?.(event.data as never);
    if (erased !== undefined) vault.forget(erased);
    const large = catalog.events[event.type]?.sealed?.large;
    publish(service, large ? { ...event, erased: false } : await reveal(catalog, event));
  }

  /** A key that can't be fetched now is no reason to leave an event out: the feed waits for it. */
  async function taken(event: RecordedEvent) {
    while (!signal.aborted) {
      try {
        return await take(event);
      } catch (error) {
        logger.error({ err: error, event: event.id, type: event.type }, 'the live feed waits');
        await pause(RETRY_MS, signal);
      }
    }
  }

  async function loop() {
    for await (const { events, caughtUp } of follow({ prefixes, from, signal })) {
      for (const event of events) await taken(event);
      if (caughtUp) atHead();
    }
  }

  return { ready, stopped: loop() };
}
