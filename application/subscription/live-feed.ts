/** Live feed of a node: one subscription that delivers every event of its services to caches and clients. */

import { type Catalog, type EventOf, type ProjectionSwitched, serviceOf } from '../../domain/shared/index.js';
import { isEvent, type KernelPorts } from '../command/index.js';
import { createYielder, estimateBytes, sleep } from '../concurrency/index.js';
import type { DecryptEvent, Position, RecordedEvent, RevealedEvent } from '../ports/index.js';
import type { CachingVault } from '../secrets/index.js';

/** Live events of a catalog, decrypted except for large ones; without a catalog each may be encrypted or decrypted. */
export type LiveEvent<C extends Catalog = Catalog> =
  | { [Type in keyof C['events'] & string]: LiveEventOf<C['events'][Type], EventOf<C, Type>> }[keyof C['events'] &
      string]
  | RevealedEvent<ProjectionSwitched>;

type LiveEventOf<Spec, E extends EventOf<Catalog>> = Catalog['events'][string] extends Spec
  ? RecordedEvent<E> | RevealedEvent<E>
  : Spec extends { readonly sealed: { readonly large: true } }
    ? RecordedEvent<E>
    : RevealedEvent<E>;

/**
 * Handles every event of a service in log order; must not wait. The type of a method, so that a handler may expect
 * the events of its service only.
 */
export type EventHandler<Event = LiveEvent> = { handle(event: Event): void }['handle'];

/** Handlers by the prefix of the events' streams, which is the name of the service, in the order of their calls. */
export type SubscriptionTable = ReadonlyMap<string, readonly EventHandler[]>;

/** Called with every event of a service in log order; the feed waits for the result before it calls the handlers. */
export type EventPreparation<Event = LiveEvent> = { prepare(event: Event): Promise<void> | undefined }['prepare'];

export interface FeedOptions extends Pick<KernelPorts, 'follow' | 'decryptEvent' | 'aggregates' | 'logger'> {
  readonly catalogs: readonly Catalog[];
  /** By service: start of its resume window, so that clients can resume after a restart of this node. */
  readonly windows: ReadonlyMap<string, WindowStart>;
  /** End of the log before this node served requests; up to here each resume window is read separately. */
  readonly begun: Position;
  readonly saved: Pick<ResumeWindowStore, 'save'>;
  /** Decrypts events written after the start of the node. */
  readonly decryptLiveEvent: DecryptEvent;
  readonly vault: CachingVault;
  readonly subscriptions: SubscriptionTable;
  /** By service. */
  readonly preparations?: ReadonlyMap<string, EventPreparation>;
  /** Called when another build of a read model becomes active. */
  readonly switched: (event: RecordedEvent<ProjectionSwitched>) => void;
  readonly signal: AbortSignal;
}

export interface Feed {
  /** Resolves when the feed has caught up, with the last position of each service. */
  readonly ready: Promise<ReadonlyMap<string, Position>>;
  /** `waiting`: the key store is unavailable. */
  status(): 'catching-up' | 'live' | 'waiting';
  /** Position up to which all events of a service were delivered and left its window. */
  resumeFrom(service: string): Position;
  last(service: string): Position;
  /** Settles once the signal has stopped the feed. */
  readonly stopped: Promise<void>;
}

const RETRY_MS = 1000;
const SAVE_EVERY_MS = 1000;

export function runLiveFeed(options: FeedOptions): Feed {
  const { catalogs, begun, follow, decryptEvent, decryptLiveEvent, aggregates, vault, subscriptions, logger, signal } =
    options;
  const catalogOf = new Map(catalogs.map((catalog) => [catalog.service, catalog]));
  const prefixes = catalogs.map(({ service }) => `${service}.`);
  const windows = new Map(Array.from(options.windows, ([service, start]) => [service, createResumeWindow(start)]));
  let caughtUpOnce = false;
  /** Number of events that wait for a store. */
  let waiting = 0;
  let resolveReady = (_: ReadonlyMap<string, Position>) => {};
  const ready = new Promise<ReadonlyMap<string, Position>>((resolve) => {
    resolveReady = resolve;
  });

  /** Retries until it succeeds, so that no event is skipped; undefined once the feed has stopped. */
  async function untilPossible<T>(event: RecordedEvent, action: () => Promise<T>): Promise<T | undefined> {
    let isWaiting = false;
    while (!signal.aborted) {
      try {
        const result = await action();
        if (isWaiting) waiting--;
        return result;
      } catch (error) {
        if (!isWaiting) waiting++;
        isWaiting = true;
        logger.error({ err: error, event: event.id, type: event.type }, 'live feed cannot read an event; retrying');
        await sleep(RETRY_MS, signal);
      }
    }
    return undefined;
  }

  async function decrypt(event: RecordedEvent): Promise<LiveEvent | undefined> {
    const catalog = catalogOf.get(serviceOf(event.stream));
    if (!catalog || event.type.startsWith('$')) return undefined;
    if (catalog.events[event.type]?.sealed?.large) return event;
    return untilPossible(event, () => (event.position > begun ? decryptLiveEvent : decryptEvent)(catalog, event));
  }

  /** Returns the event once its handlers may be called. */
  const prepare = (event: RecordedEvent, live: LiveEvent) =>
    untilPossible(event, async () => {
      await options.preparations?.get(serviceOf(event.stream))?.(live);
      return live;
    });

  function dispatch(event: RecordedEvent, live: LiveEvent | undefined) {
    const service = serviceOf(event.stream);
    // Never sent to clients, so it needs no place in the window.
    if (isEvent<ProjectionSwitched>('ProjectionSwitched', event)) options.switched(event);
    else windows.get(service)?.record(event);
    const subject = catalogOf.get(service)?.events[event.type]?.erases?.(event.data);
    if (subject !== undefined) {
      vault.forget(subject);
      for (const stream of [subject, event.stream]) aggregates.forget(stream);
    }
    for (const handle of live ? (subscriptions.get(service) ?? []) : []) {
      try {
        handle(live!);
      } catch (error) {
        logger.error({ err: error, event: event.id, type: event.type }, 'a listener failed to process an event');
      }
    }
  }

  /** Decrypts events in parallel, because keys come from another server; dispatches them in order. */
  async function dispatchBatch(events: readonly RecordedEvent[]) {
    for (const event of events) aggregates.onEvent(event);
    const decrypted = events.map(decrypt);
    const yieldIfDue = createYielder();
    for (const [index, event] of events.entries()) {
      const pause = yieldIfDue();
      if (pause) await pause;
      const live = await decrypted[index];
      dispatch(event, live && (await prepare(event, live)));
    }
  }

  /**
   * Dispatches the events in the window of a service, up to the start of this node. Windows are read separately:
   * reading all services from the oldest window would cover many events for nothing.
   */
  async function replayWindow(service: string, window: ResumeWindow) {
    if (window.from >= begun) return;
    let recordedAt = 0;
    const selection = { prefixes: [`${service}.`], from: positionOrStart(window.from), signal };
    for await (const { events, position = 0n, caughtUp } of follow(selection)) {
      // Later events are dispatched by the common subscription.
      await dispatchBatch(events.filter((event) => event.position <= begun));
      recordedAt = events.at(-1)?.recordedAt ?? recordedAt;
      if (caughtUp || position >= begun) break;
    }
    if (!signal.aborted) window.advanceTo(begun, recordedAt);
  }

  async function loop() {
    await Promise.all(Array.from(windows, ([service, window]) => replayWindow(service, window)));
    let recordedAt = 0;
    for await (const { events, position, caughtUp } of follow({ prefixes, from: positionOrStart(begun), signal })) {
      await dispatchBatch(events);
      if (signal.aborted) return;
      recordedAt = events.at(-1)?.recordedAt ?? recordedAt;
      if (position !== undefined) for (const window of windows.values()) window.advanceTo(position, recordedAt);
      if (!caughtUp) continue;
      caughtUpOnce = true;
      resolveReady(new Map(Array.from(windows, ([service, { last }]) => [service, last])));
    }
  }

  /** Saves the windows for the next start, once clients can resume in them. */
  async function saveWindows() {
    let lastSaved = '';
    const save = async () => {
      const current = Array.from(windows.values(), (window) => window.from).join();
      if (current === lastSaved) return;
      try {
        await options.saved.save(windows);
        lastSaved = current;
      } catch (error) {
        logger.warn({ err: error }, 'failed to save the resume windows; retrying');
      }
    };
    await Promise.race([ready, sleep(2 ** 31 - 1, signal)]);
    while (!signal.aborted) {
      await save();
      await sleep(SAVE_EVERY_MS, signal);
    }
  }

  /** Once caught up, `live` again after waiting: the subscription need not report the head another time. */
  const status = () => (waiting > 0 ? 'waiting' : caughtUpOnce ? 'live' : 'catching-up');
  const stopped = Promise.all([loop(), saveWindows()]).then(() => {});
  const resumeFrom = (service: string) => windows.get(service)?.from ?? 0n;
  const last = (service: string) => windows.get(service)?.last ?? 0n;
  return { ready, status, resumeFrom, last, stopped };
}

const positionOrStart = (position: Position): Position | 'start' => (position === 0n ? 'start' : position);

/** Position 0 is before all events. */
export interface WindowStart {
  /** Clients that have received everything up to here can resume. */
  readonly horizon: Position;
  /** No events of the service lie between the horizon and here: the subscription can start here. */
  readonly from: Position;
}

type ResumeWindow = ReturnType<typeof createResumeWindow>;

/** Events and bytes that are read again after a restart, for clients that resume. */
const MAX_EVENTS = 500;
const MAX_BYTES = 16 * 1024 * 1024;
/**
 * Oldest event in a window, ms. Without this limit a quiet service would have all later events of others read again.
 */
const MAX_AGE_MS = 15 * 60_000;

/** Tracks how far back client streams of a service can be resumed, also across restarts. */
export function createResumeWindow(start: WindowStart) {
  const inside: { readonly position: Position; readonly recordedAt: number; readonly bytes: number }[] = [];
  let { horizon, from } = start;
  let last = horizon;
  let bytesInside = 0;

  function dropOldest() {
    const { position, bytes } = inside.shift()!;
    bytesInside -= bytes;
    from = horizon = position;
  }

  return {
    get horizon() {
      return horizon;
    },
    get from() {
      return from;
    },
    /** Last event of the service; its read models advance no further while there are no new events. */
    get last() {
      return last;
    },
    /** Adds an event of the service. */
    record({ position, recordedAt, data }: Pick<RecordedEvent, 'position' | 'recordedAt' | 'data'>) {
      if (position <= last) return;
      last = position;
      const bytes = estimateBytes(data);
      bytesInside += bytes;
      inside.push({ position, recordedAt, bytes });
      while (inside.length > MAX_EVENTS || bytesInside > MAX_BYTES) dropOldest();
    },
    /**
     * Reports that all events of the service up to here were recorded, so that later events of other services are not
     * read again. `now`: time of the newest event of any service, Unix ms.
     */
    advanceTo(position: Position, now: number) {
      while (inside[0] && inside[0].recordedAt < now - MAX_AGE_MS) dropOldest();
      if (inside.length === 0 && position > from) from = position;
    },
  };
}

/** Stored resume windows. */
export interface ResumeWindowStore {
  /** Returns the stored window of a service, if any. */
  read(service: string): Promise<WindowStart | undefined>;
  /** Saves each window atomically. Any node may save, as all of them read the same log. */
  save(windows: ReadonlyMap<string, WindowStart>): Promise<void>;
}

/**
 * Reads the window of a service.
 *
 * @param head End of the log; limits the window, as the log may have been restored from a backup.
 * @param checkpoint Position of the service's read models: start of the window if none is stored.
 */
export async function readResumeWindow(
  windows: Pick<ResumeWindowStore, 'read'>,
  service: string,
  head: Position,
  checkpoint: Position = 0n,
): Promise<WindowStart> {
  const { horizon, from } = (await windows.read(service)) ?? { horizon: checkpoint, from: checkpoint };
  const upToHead = (position: Position) => (position < head ? position : head);
  return { horizon: upToHead(horizon), from: upToHead(from) };
}
