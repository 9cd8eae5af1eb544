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

  const catalogFor = ({ stream }: RecordedEvent) => catalogOf.get(stream.slice(0, stream.indexOf('.')));

  /** A key that can't be fetched now is no reason to leave an event out: the feed waits for it. */
  async function opened(event: RecordedEvent): Promise<RevealedEvent | undefined> {
    const catalog = catalogFor(event);
    if (!catalog || event.type.startsWith('$')) return undefined;
    if (catalog.events[event.type]?.sealed?.large) return { ...event, erased: false };
    while (!signal.aborted) {
      try {
        return await reveal(catalog, event);
      } catch (error) {
        logger.error({ err: error, event: event.id, type: event.type }, 'the live feed waits');
        await pause(RETRY_MS, signal);
      }
    }
    return undefined;
  }

  function tell(event: RecordedEvent, revealed: RevealedEvent | undefined) {
    if (event.type === 'ProjectionSwitched') switched(event);
    const catalog = catalogFor(event);
    const erased = catalog?.events[event.type]?.erases?.(event.data as never);
    if (erased !== undefined) {
      vault.forget(erased);
      for (const stream of [erased, event.stream]) streams.forget(stream);
    }
    if (catalog && revealed) publish(catalog.service, revealed);
  }

  async function loop() {
    for await (const { events, caughtUp } of follow({ prefixes, from, signal })) {
      for (const event of events) streams.observe(event);
      // Keys come from another server: they are asked for together, and the events told in their order.
      const opening = events.map(opened);
      for (const [index, event] of events.entries()) tell(event, await opening[index]);
      if (caughtUp) atHead();
    }
  }

  return { ready, stopped: loop() };
}
