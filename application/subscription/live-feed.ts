/** The live feed of a node: every event of its services, once, to everything in the process that must know. */
import { type Catalog, type ProjectionSwitched, serviceOf } from '../../domain/shared/index.js';
import { type AggregateStore, isEvent } from '../command/index.js';
import { createYielder, sleep } from '../concurrency/index.js';
import type { DecryptEvent, Logger, Position, RecordedEvent, Subscribe } from '../ports/index.js';
import type { CachingVault } from '../secrets/index.js';
import type { LiveEvent } from './live-event.js';
import { createWindow, type ResumeWindow, type WindowStart, type Windows } from './resume-window.js';

export interface FeedOptions {
  readonly catalogs: readonly Catalog[];
  /** By service: where its window begins, so that streams can be resumed across a restart of this node. */
  readonly windows: ReadonlyMap<string, WindowStart>;
  /** Where the log ended before this node served anybody: up to here each service's window is read by itself. */
  readonly begun: Position;
  /** Where they are left for the next start. */
  readonly saved: Pick<Windows, 'save'>;
  readonly follow: Subscribe;
  readonly reveal: DecryptEvent;
  /** Opens what was written after `begun`. */
  readonly revealLive: DecryptEvent;
  readonly streams: AggregateStore;
  readonly vault: CachingVault;
  /** Fans an event out to the clients of its service. Must not wait for anything. */
  readonly publish: (service: string, event: LiveEvent) => void;
  /** Another build of a read model is served from this event on. */
  readonly switched: (event: RecordedEvent<ProjectionSwitched>) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export interface Feed {
  /** Resolves when the feed has been at the head of the log, with the last event of each service up to there. */
  readonly ready: Promise<ReadonlyMap<string, Position>>;
  /** `waiting`: for a key store that is away. */
  status(): 'catching-up' | 'live' | 'waiting';
  /** Up to here a service has been told everything. */
  resumeFrom(service: string): Position;
  /** The last event of a service that was told. */
  last(service: string): Position;
  /** Settles when the signal has ended it. */
  readonly stopped: Promise<void>;
}

const RETRY_MS = 1000;
const SAVE_EVERY_MS = 1000;

export function runLiveFeed(options: FeedOptions): Feed {
  const { catalogs, begun, follow, reveal, revealLive, streams, vault, publish, switched, logger, signal } = options;
  const catalogOf = new Map(catalogs.map((catalog) => [catalog.service, catalog]));
  const prefixes = [...catalogOf.keys()].map((service) => `${service}.`);
  const windows = new Map(Array.from(options.windows, ([service, start]) => [service, createWindow(start)]));
  let caughtUpOnce = false;
  /** Events whose keys can't be fetched now. */
  let waiting = 0;
  let atHead = (_: ReadonlyMap<string, Position>) => {};
  const ready = new Promise<ReadonlyMap<string, Position>>((resolve) => {
    atHead = resolve;
  });

  /** A key that can't be fetched now is no reason to leave an event out: the feed waits for it. */
  async function opened(event: RecordedEvent): Promise<LiveEvent | undefined> {
    const service = serviceOf(event.stream);
    const catalog = catalogOf.get(service);
    if (!catalog || event.type.startsWith('$')) return undefined;
    if (catalog.events[event.type]?.sealed?.large) return event;
    let inVain = false;
    while (!signal.aborted) {
      try {
        const revealed = await (event.position > begun ? revealLive : reveal)(catalog, event);
        if (inVain) waiting--;
        return revealed;
      } catch (error) {
        if (!inVain) waiting++;
        inVain = true;
        logger.error({ err: error, event: event.id, type: event.type }, 'the live feed waits');
        await sleep(RETRY_MS, signal);
      }
    }
    return undefined;
  }

  function dispatch(event: RecordedEvent, live: LiveEvent | undefined) {
    const service = serviceOf(event.stream);
    // No client is ever given it, so that nobody's window need hold it.
    if (isEvent<ProjectionSwitched>('ProjectionSwitched', event)) switched(event);
    else windows.get(service)?.record(event);
    const erased = catalogOf.get(service)?.events[event.type]?.erases?.(event.data);
    if (erased !== undefined) {
      vault.forget(erased);
      for (const stream of [erased, event.stream]) streams.forget(stream);
    }
    if (live) publish(service, live);
  }

  /** Keys come from another server: they are asked for together, and the events told in their order. */
  async function dispatchBatch(events: readonly RecordedEvent[]) {
    for (const event of events) streams.onEvent(event);
    const opening = events.map(opened);
    const rest = createYielder();
    for (const [index, event] of events.entries()) {
      const resting = rest();
      if (resting) await resting;
      const revealed = await opening[index];
      try {
        dispatch(event, revealed);
      } catch (error) {
        logger.error({ err: error, event: event.id, type: event.type }, 'an event was not told to all');
      }
    }
  }

  /**
   * Tells what stands in the window of a service, up to where this node began. Each is read by itself: one whose last
   * event is long ago would have all that the others have written since read for nothing.
   */
  async function tellWindow(service: string, window: ResumeWindow) {
    if (window.from >= begun) return;
    let now = 0;
    const selection = { prefixes: [`${service}.`], from: startAt(window.from), signal };
    for await (const { events, position = 0n, caughtUp } of follow(selection)) {
      // What comes after is told by what goes on for all, and only there.
      await dispatchBatch(events.filter((event) => event.position <= begun));
      now = events.at(-1)?.recordedAt ?? now;
      if (caughtUp || position >= begun) break;
    }
    if (!signal.aborted) window.advanceTo(begun, now);
  }

  async function loop() {
    await Promise.all(Array.from(windows, ([service, window]) => tellWindow(service, window)));
    let now = 0;
    for await (const { events, position, caughtUp } of follow({ prefixes, from: startAt(begun), signal })) {
      await dispatchBatch(events);
      if (signal.aborted) return;
      now = events.at(-1)?.recordedAt ?? now;
      if (position !== undefined) for (const window of windows.values()) window.advanceTo(position, now);
      if (!caughtUp) continue;
      caughtUpOnce = true;
      atHead(new Map(Array.from(windows, ([service, { last }]) => [service, last])));
    }
  }

  /** Keeps the windows for the next start, from the moment that anybody can resume in them. */
  async function keepSaved() {
    let saved = '';
    const save = async () => {
      const now = Array.from(windows.values(), (window) => window.from).join();
      if (now === saved) return;
      try {
        await options.saved.save(windows);
        saved = now;
      } catch (error) {
        logger.warn({ err: error }, 'the windows of the live feed were not saved, trying again');
      }
    };
    await Promise.race([ready, sleep(2 ** 31 - 1, signal)]);
    while (!signal.aborted) {
      await save();
      await sleep(SAVE_EVERY_MS, signal);
    }
  }

  /** What is waited for is no reason to be told once more that the head was reached: nobody may say it again. */
  const status = () => (waiting > 0 ? 'waiting' : caughtUpOnce ? 'live' : 'catching-up');
  const stopped = Promise.all([loop(), keepSaved()]).then(() => {});
  const resumeFrom = (service: string) => windows.get(service)?.from ?? 0n;
  const last = (service: string) => windows.get(service)?.last ?? 0n;
  return { ready, status, resumeFrom, last, stopped };
}

const startAt = (position: Position): Position | 'start' => (position === 0n ? 'start' : position);
