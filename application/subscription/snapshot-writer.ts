/** Writes snapshots of a service's fold for the next start (docs/guide/snapshots.md). */
import { maxPosition } from '../consistency/index.js';
import type { Leases, Logger, Position } from '../ports/index.js';
import type { Feed, ResumeWindowStore } from './live-feed.js';
import type { Fold, SnapshotFormat, SnapshotSize, Snapshots, StateAt } from './restore-fold.js';
import { runPeriodically } from './scheduled-job.js';
import { eventCount } from './stream-cursors.js';

export interface SnapshotWriterOptions<State> {
  readonly service: string;
  readonly form: SnapshotFormat<State>;
  /** As in `Fold`. */
  readonly cursors: Fold<State>['reached'];
  /** Size of the snapshot that this start has read. */
  readonly kept: SnapshotSize | undefined;
  /** State that this start has restored; can be written immediately. */
  readonly initial: StateAt<State> | undefined;
  readonly snapshots: Pick<Snapshots, 'write' | 'extend'>;
  /** Resume windows as stored for the next start. */
  readonly windows: Pick<ResumeWindowStore, 'read'>;
  readonly currentState: () => StateAt<State>;
}

/** New events in streams with cursors before another snapshot is due. */
const MIN_NEW_EVENTS = 1000;
/** Parts per additional event required, so that large snapshots are written less often. */
const PARTS_PER_EVENT = 4;

/**
 * Creates a function to be called periodically, one call at a time; it resolves with whether it wrote a full snapshot.
 *
 * A snapshot must not be newer than the start of the resume window: the current state is held back until the window has
 * moved past it.
 */
export function createSnapshotWriter<State>(options: SnapshotWriterOptions<State>) {
  const { service, form, cursors, snapshots, windows, currentState } = options;
  const { version } = form;
  let { kept = { events: 0, parts: 0 }, initial: pending } = options;
  let written: (StateAt<State> & { readonly until: Position }) | undefined;

  const eventsOf = (state: State) => (cursors ? eventCount(cursors(state)) : 0);
  const isDue = (state: State) =>
    !cursors || eventsOf(state) - kept.events >= MIN_NEW_EVENTS + kept.parts / PARTS_PER_EVENT;

  return async (): Promise<boolean> => {
    pending ??= currentState();
    const window = await windows.read(service);
    if (!window || window.from < pending.position) return false;
    const { state, position } = pending;
    pending = undefined;
    if (!isDue(state)) return false;
    // States are immutable: the same object means no events since.
    if (written?.state === state) {
      if (written.until === position) return false;
      if (await snapshots.extend(service, version, written.position, position)) {
        written = { ...written, until: position };
        return false;
      }
    }
    let parts = 0;
    const counted = function* () {
      for (const part of form.parts(state)) {
        parts++;
        yield part;
      }
    };
    const isWritten = await snapshots.write(service, version, position, counted());
    written = isWritten ? { state, position, until: position } : undefined;
    // If the write was refused, another node has written a newer snapshot, which serves as well.
    kept = { events: eventsOf(state), parts };
    return true;
  };
}

/** Milliseconds between checks whether the next start would need a newer snapshot. */
const CHECK_EVERY_MS = 1000;
/** Checks skipped after a snapshot was written, which can take megabytes. The next start reads the events since. */
const SKIPPED_CHECKS = 30;

export interface SnapshotJobOptions<State> extends Omit<SnapshotWriterOptions<State>, 'currentState'> {
  readonly relay: { state(): State; position(): Position };
  readonly feed: Pick<Feed, 'resumeFrom'>;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Keeps a snapshot of a relay's state current while this node holds the lease; settles after abort. */
export function runSnapshotWriter<State>(options: SnapshotJobOptions<State>): Promise<void> {
  const { service, relay, feed, leases, logger, signal } = options;
  const writeIfDue = createSnapshotWriter({
    ...options,
    currentState: () => ({
      state: relay.state(),
      position: maxPosition(relay.position(), feed.resumeFrom(service)),
    }),
  });
  let toSkip = 0;
  const run = async () => {
    if (toSkip-- > 0) return;
    toSkip = (await writeIfDue()) ? SKIPPED_CHECKS : 0;
  };
  return runPeriodically({ name: `${service}.audience`, everyMs: CHECK_EVERY_MS, run, leases, logger, signal });
}
