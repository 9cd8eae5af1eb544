/** Tracks what this node has appended and what its projections have applied; waits for projections to catch up. */
import { serviceOf } from '../../domain/shared/index.js';
import type { Position, ProjectionProgress } from '../ports/index.js';
import {
  createPositionTracker,
  createWritePositions,
  maxPosition,
  type PositionTracker,
  type WritePositions,
} from './positions.js';

const POLL_MS = 25;
/** Polls skipped after a report of the node's own projector, which is assumed to go on: half a second. */
const SKIPPED_POLLS = 20;

export interface ProjectionProgressTracker extends ProjectionProgress {
  appended(stream: string, position: Position): void;
  /** Records the last event of a service when this node started, which every reader must see. */
  startedAt(service: string, position: Position): void;
  /** Whether a projection has reached the end of the log as of the start of this node. */
  caughtUp(projection: string): Promise<boolean>;
  advanced(projection: string, position: Position): void;
  /**
   * Debounces a projector: resolves after `ms`, or immediately while a reader waits for one of its projections. Batches
   * are large without readers, and rows are current with them.
   */
  debounceUntilAwaited(projections: readonly string[], ms: number): Promise<void>;
}

interface Progress {
  readonly applied: PositionTracker;
  flush?: (() => void) | undefined;
  isPolled: boolean;
  pollsToSkip: number;
}

interface ServiceWrites {
  readonly byStream: WritePositions;
  newest: Position;
  /** End of the log when this node started. */
  startedAt?: Position;
}

/** @param stored Reads the checkpoint of a projection, which another node may be running. */
export function createProjectionProgress(
  stored: (projection: string) => Promise<Position | undefined>,
): ProjectionProgressTracker {
  const byProjection = new Map<string, Progress>();
  const byService = new Map<string, ServiceWrites>();

  function progressOf(projection: string): Progress {
    let progress = byProjection.get(projection);
    progress ??= { applied: createPositionTracker(), isPolled: false, pollsToSkip: 0 };
    byProjection.set(projection, progress);
    return progress;
  }

  function writesOf(service: string): ServiceWrites {
    const writes = byService.get(service) ?? { byStream: createWritePositions(), newest: 0n };
    byService.set(service, writes);
    return writes;
  }

  /** Polls the checkpoint of a projection for all its waiters, as long as there are any. */
  function poll(projection: string, progress: Progress) {
    if (progress.isPolled) return;
    progress.isPolled = true;
    const timer = setInterval(() => {
      if (!progress.applied.hasWaiters()) {
        clearInterval(timer);
        progress.isPolled = false;
      } else if (progress.pollsToSkip > 0) progress.pollsToSkip--;
      else
        stored(projection)
          .then((at = 0n) => progress.applied.advance(at))
          .catch(() => {});
    }, POLL_MS);
  }

  return {
    advanced(projection, position) {
      const progress = progressOf(projection);
      progress.pollsToSkip = SKIPPED_POLLS;
      progress.applied.advance(position);
    },
    startedAt(service, position) {
      writesOf(service).startedAt = position;
    },

    async caughtUp(projection) {
      const { startedAt } = writesOf(serviceOf(projection));
      if (startedAt === undefined) return false;
      const { applied } = progressOf(projection);
      if (applied.position() < startedAt) applied.advance((await stored(projection)) ?? 0n);
      return applied.position() >= startedAt;
    },

    position: (projection) => progressOf(projection).applied.position(),
    appended(stream, position) {
      const writes = writesOf(serviceOf(stream));
      writes.newest = maxPosition(writes.newest, position);
      writes.byStream.note(stream, position);
    },
    latest: (streams) =>
      streams.map((stream) => writesOf(serviceOf(stream)).byStream.latest(stream)).reduce(maxPosition, 0n),
    latestOf: (service) => writesOf(service).newest,

    debounceUntilAwaited(projections, ms) {
      const all = projections.map(progressOf);
      if (all.some(({ applied }) => applied.hasWaiters())) return Promise.resolve();
      return new Promise((resolve) => {
        const flush = () => {
          clearTimeout(timer);
          for (const each of all) each.flush = undefined;
          resolve();
        };
        const timer = setTimeout(flush, ms);
        for (const each of all) each.flush = flush;
      });
    },

    wait(projection, required, timeoutMs) {
      const progress = progressOf(projection);
      const { startedAt = 0n } = writesOf(serviceOf(projection));
      const outcome = progress.applied.wait(maxPosition(required, startedAt), timeoutMs);
      if (progress.applied.hasWaiters()) {
        poll(projection, progress);
        progress.flush?.();
      }
      return outcome;
    },
  };
}
