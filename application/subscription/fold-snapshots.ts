/**
 * Snapshots of a fold (docs/guide/snapshots.md): restores its state at the start of the live feed, from a snapshot and
 * the events since, and writes snapshots for the next start.
 */
import { maxPosition } from '../consistency/index.js';
import type { EventLog, Leases, Logger, Position, RecordedEvent, RevealedEvent, Subscribe } from '../ports/index.js';
import { runPeriodically } from './leader-election.js';
import type { Feed, ResumeWindowStore, WindowStart } from './live-feed.js';
import { eventCount, eventsSince, type StreamCursors } from './stream-cursors.js';

/** Pure fold over some events of a service; states are immutable. */
export interface Fold<State> {
  readonly initialState: State;
  readonly types: readonly string[];
  evolve(state: State, event: RevealedEvent): State;
  /** Cursors of the folded streams in a state, if these are few; they are present in the initial state, too. */
  readonly reached?: ((state: State) => StreamCursors) | undefined;
  readonly snapshot?: SnapshotFormat<State> | undefined;
}

/** Serialization of a state as a snapshot. */
export interface SnapshotFormat<State> {
  /**
   * Increase it whenever the shape or meaning of the state, or its event types, change: older snapshots are ignored
   * then.
   */
  readonly version: number;
  /**
   * Returns JSON parts, each far below the document limit (1 MB). Personal data belongs in the `secret` of a
   * `SealedPart`.
   */
  parts(state: State): Iterable<unknown>;
  /** Restores the state; erased secrets are missing. */
  from(parts: readonly unknown[]): State;
}

export interface Snapshot {
  /** The state includes all events up to here and none after. */
  readonly position: Position;
  /** There are no further events of the fold between `position` and here. */
  readonly until: Position;
  readonly parts: readonly unknown[];
}

export type Parts = Iterable<unknown> | AsyncIterable<unknown>;

/** Snapshot store. Drops a snapshot with an `until` beyond the end of the log, as it belongs to another log. */
export interface Snapshots {
  /** Returns the snapshot of a version; undefined if there is none or it is incomplete. */
  read(service: string, version: number): Promise<Snapshot | undefined>;
  /** Replaces the snapshot atomically; returns false, changing nothing, if the stored one is newer. */
  write(service: string, version: number, position: Position, parts: Parts): Promise<boolean>;
  /** Moves `until` forward; returns false if the snapshot at this position has been replaced. */
  extend(service: string, version: number, position: Position, until: Position): Promise<boolean>;
}

export interface StateAt<State> {
  readonly state: State;
  readonly position: Position;
}

export interface RestoredFold<State> extends StateAt<State> {
  /** Start of the live feed: as requested, or at the snapshot if that is later; clients away for longer must reload. */
  readonly window: WindowStart;
  /** Size of the snapshot it was restored from. */
  readonly size?: SnapshotSize | undefined;
}

/** Size of a snapshot: events folded in, if these are counted, and parts. */
export interface SnapshotSize {
  readonly events: number;
  readonly parts: number;
}

export interface RestorePorts {
  readonly follow: Subscribe;
  readonly log: Pick<EventLog, 'read'>;
  readonly decryptEvent: (event: RecordedEvent) => Promise<RevealedEvent>;
  readonly snapshots: Pick<Snapshots, 'read'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly signal: AbortSignal;
}

/** Initial state or snapshot, and the events since in the streams with cursors. */
interface Base<State> extends StateAt<State> {
  readonly until: Position;
  readonly since: readonly RecordedEvent[];
  readonly size?: SnapshotSize;
}

/** Returns the state of a fold at the start of its service's resume window. */
export async function restoreFold<State>(
  service: string,
  fold: Fold<State>,
  window: WindowStart,
  ports: RestorePorts,
): Promise<RestoredFold<State>> {
  const { follow, decryptEvent, signal } = ports;
  const { types, evolve, reached } = fold;
  const { position, until, since, size, ...base } =
    (await readSnapshot(service, fold, ports)) ?? (await initialBase(fold, ports));
  let { state } = base;
  if (position > window.from) {
    // The horizon is the last event of the service: readers wait for rows up to it, and rows only advance to events.
    const horizon = await lastPositionOf(service, window, position, { follow, signal });
    return { state, position, window: { horizon, from: position }, size };
  }
  const restored = () => ({ state, position: window.from, window, size });
  const apply = async (events: readonly RecordedEvent[]) => {
    const relevant = events.filter((event) => event.position <= window.from && types.includes(event.type));
    for (let start = 0; start < relevant.length; start += BATCH_SIZE) {
      const decrypted = await Promise.all(relevant.slice(start, start + BATCH_SIZE).map(decryptEvent));
      for (const event of decrypted) state = evolve(state, event);
    }
  };
  await apply(since);
  if (reached || types.length === 0 || until >= window.from) return restored();
  const from = until === 0n ? 'start' : until;
  for await (const { events, position = 0n, caughtUp } of follow({ service, types, from, signal })) {
    await apply(events);
    if (caughtUp || position >= window.from) return restored();
  }
  throw new Error(`stopped while reading the events of ${service}`);
}

/** Returns the base without a snapshot: the beginning of the log. */
async function initialBase<State>(
  { initialState: state, reached }: Fold<State>,
  { log }: RestorePorts,
): Promise<Base<State>> {
  const since = reached && (await eventsSince(log, reached(state)));
  return { state, position: 0n, until: 0n, since: since ?? [] };
}

/** Reads the snapshot. Returns undefined, with a warning, if it is unusable: the log contains everything. */
async function readSnapshot<State>(
  service: string,
  { snapshot, reached }: Fold<State>,
  { snapshots, log, logger }: RestorePorts,
): Promise<Base<State> | undefined> {
  if (!snapshot) return undefined;
  try {
    const stored = await snapshots.read(service, snapshot.version);
    if (!stored) return undefined;
    const { position, until, parts } = stored;
    const state = snapshot.from(parts);
    const cursors = reached?.(state) ?? {};
    const since = await eventsSince(log, cursors);
    if (!since) throw new Error('the snapshot belongs to another event log');
    return { state, position, until, since, size: { events: eventCount(cursors), parts: parts.length } };
  } catch (err) {
    logger.warn({ err, service }, 'snapshot cannot be used; reading the event log instead');
    return undefined;
  }
}

/** Finds the last event of a service between the start of its window and a position. */
async function lastPositionOf(
  service: string,
  { from, horizon }: WindowStart,
  until: Position,
  { follow, signal }: Pick<RestorePorts, 'follow' | 'signal'>,
): Promise<Position> {
  let last = horizon;
  const selection = { prefixes: [`${service}.`], from: from === 0n ? ('start' as const) : from, signal };
  for await (const { events, position = 0n, caughtUp } of follow(selection)) {
    for (const event of events) if (event.position <= until) last = event.position;
    if (caughtUp || position >= until) return last;
  }
  throw new Error(`stopped while looking for the last event of ${service}`);
}

/** Events decrypted in parallel, because keys come from another server. */
const BATCH_SIZE = 1000;

export interface SnapshotWriterOptions<State> {
  readonly service: string;
  readonly form: SnapshotFormat<State>;
  /** As in `Fold`. */
  readonly cursors: Fold<State>['reached'];
  /** Size of the snapshot that this start has read. */
  readonly size: SnapshotSize | undefined;
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
  let { size = { events: 0, parts: 0 }, initial: pending } = options;
  let written: (StateAt<State> & { readonly until: Position }) | undefined;

  const eventsOf = (state: State) => (cursors ? eventCount(cursors(state)) : 0);
  const isDue = (state: State) =>
    !cursors || eventsOf(state) - size.events >= MIN_NEW_EVENTS + size.parts / PARTS_PER_EVENT;

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
    size = { events: eventsOf(state), parts };
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
