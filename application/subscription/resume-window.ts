/** Resume window: how far back client streams of a service can be resumed, also across restarts. */
import { estimateBytes } from '../concurrency/index.js';
import type { Position, RecordedEvent } from '../ports/index.js';

/** Position 0 is before all events. */
export interface WindowStart {
  /** Clients that have received everything up to here can resume. */
  readonly horizon: Position;
  /** No events of the service lie between the horizon and here: the subscription can start here. */
  readonly from: Position;
}

export interface ResumeWindow extends WindowStart {
  /** Last event of the service; its read models advance no further while there are no new events. */
  readonly last: Position;
  /** Adds an event of the service. */
  record(event: Pick<RecordedEvent, 'position' | 'recordedAt' | 'data'>): void;
  /**
   * Reports that all events of the service up to here were recorded, so that later events of other services are not
   * read again. `now`: time of the newest event of any service, Unix ms.
   */
  advanceTo(position: Position, now: number): void;
}

/** Events and bytes that are read again after a restart, for clients that resume. */
const MAX_EVENTS = 500;
const MAX_BYTES = 16 * 1024 * 1024;
/**
 * Oldest event in a window, ms. Without this limit a quiet service would have all later events of others read again.
 */
const MAX_AGE_MS = 15 * 60_000;

export function createResumeWindow(start: WindowStart): ResumeWindow {
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
    get last() {
      return last;
    },
    record({ position, recordedAt, data }) {
      if (position <= last) return;
      last = position;
      const bytes = estimateBytes(data);
      bytesInside += bytes;
      inside.push({ position, recordedAt, bytes });
      while (inside.length > MAX_EVENTS || bytesInside > MAX_BYTES) dropOldest();
    },
    advanceTo(position, now) {
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
