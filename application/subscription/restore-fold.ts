/** What a fold of the log begins with where the live feed begins: a snapshot of before, and the facts since (docs/guide/snapshots.md). */
import type { EventLog, Logger, Position, RecordedEvent, RevealedEvent, Subscribe } from '../ports/index.js';
import type { WindowStart } from './resume-window.js';
import { eventCount, eventsSince, type StreamCursors } from './stream-cursors.js';

/** A fold of some of a service's events. Pure: a state that was given out never changes. */
export interface Fold<State> {
  readonly initialState: State;
  /** The events that make another state of one: its facts. */
  readonly types: readonly string[];
  evolve(state: State, event: RevealedEvent): State;
  /** Where they all stand in few streams: how far each of these is in a state, also in that before the first event. */
  readonly reached?: ((state: State) => StreamCursors) | undefined;
  readonly snapshot?: SnapshotForm<State> | undefined;
}

/** How a state is kept for the next start. */
export interface SnapshotForm<State> {
  /** Raised whenever the state, or which events make it, changes in shape or meaning: it is folded anew then. */
  readonly version: number;
  /** JSON all of it, each far smaller than a document may be (1 MB). Who somebody is stands in the `secret` of a `SealedPart`. */
  parts(state: State): Iterable<unknown>;
  /** Secrets are missing where they are erased. */
  from(parts: readonly unknown[]): State;
}

export interface Snapshot {
  /** The state reflects everything up to here, and nothing after it. */
  readonly position: Position;
  /** Up to here there is no fact more. */
  readonly until: Position;
  readonly parts: readonly unknown[];
}

export type Parts = Iterable<unknown> | AsyncIterable<unknown>;

/** The last snapshot of each service's fold. Where the log ends before its `until` it is of another log, and forgotten. */
export interface Snapshots {
  /** Undefined where none of this version is, or not all of it. */
  read(service: string, version: number): Promise<Snapshot | undefined>;
  /** Replaces the one before as a whole; false, and nothing is changed, when that is newer. */
  write(service: string, version: number, position: Position, parts: Parts): Promise<boolean>;
  /** There is no fact more up to here. False when the one at this position has been replaced. */
  extend(service: string, version: number, position: Position, until: Position): Promise<boolean>;
}

/** A state, and the position up to which everything is in it. */
export interface StateAt<State> {
  readonly state: State;
  readonly position: Position;
}

export interface RestoredFold<State> extends StateAt<State> {
  /** Where the feed is to begin: as asked, or where the snapshot is if that is later: who was away longer is reset. */
  readonly window: WindowStart;
  /** Of the snapshot that it came from. */
  readonly kept?: SnapshotSize | undefined;
}

/** How many events of few streams are in a snapshot, and of how many parts it is. */
export interface SnapshotSize {
  readonly events: number;
  readonly parts: number;
}

export interface SeedPorts {
  readonly follow: Subscribe;
  readonly log: Pick<EventLog, 'read'>;
  /** Opens an event of the service. */
  readonly reveal: (event: RecordedEvent) => Promise<RevealedEvent>;
  readonly snapshots: Pick<Snapshots, 'read'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly signal: AbortSignal;
}

/** What a start begins with: nothing, or a snapshot; and what is in few streams since. */
interface Base<State> extends StateAt<State> {
  readonly until: Position;
  readonly since: readonly RecordedEvent[];
  readonly kept?: SnapshotSize;
}

/** The state of a fold before anything that comes after the beginning of its service's window. */
export async function restoreFold<State>(
  service: string,
  fold: Fold<State>,
  window: WindowStart,
  ports: SeedPorts,
): Promise<RestoredFold<State>> {
  const { follow, reveal, signal } = ports;
  const { types, evolve, reached } = fold;
  const { position, until, since, kept, ...base } =
    (await snapshotOf(service, fold, ports)) ?? (await nothing(fold, ports));
  let { state } = base;
  if (position > window.from) {
    // Not behind it, where nothing of the service may stand: readers are owed what comes before the window.
    const horizon = await lastOf(service, window, position, { follow, signal });
    return { state, position, window: { horizon, from: position }, kept };
  }
  const seed = () => ({ state, position: window.from, window, kept });
  const take = async (events: readonly RecordedEvent[]) => {
    const wanted = events.filter((event) => event.position <= window.from && types.includes(event.type));
    for (let done = 0; done < wanted.length; done += AT_ONCE) {
      const opened = await Promise.all(wanted.slice(done, done + AT_ONCE).map(reveal));
      for (const event of opened) state = evolve(state, event);
    }
  };
  await take(since);
  if (reached || types.length === 0 || until >= window.from) return seed();
  const from = until === 0n ? 'start' : until;
  for await (const { events, position = 0n, caughtUp } of follow({ service, types, from, signal })) {
    await take(events);
    if (caughtUp || position >= window.from) return seed();
  }
  throw new Error(`reading the facts of ${service} was stopped`);
}

/** From the beginning of the log. */
async function nothing<State>({ initialState: state, reached }: Fold<State>, { log }: SeedPorts): Promise<Base<State>> {
  const since = reached && (await eventsSince(log, reached(state)));
  return { state, position: 0n, until: 0n, since: since ?? [] };
}

/** Undefined where there is none, and, told, where it can't be used: all of it can be had from the log. */
async function snapshotOf<State>(
  service: string,
  { snapshot, reached }: Fold<State>,
  { snapshots, log, logger }: SeedPorts,
): Promise<Base<State> | undefined> {
  if (!snapshot) return undefined;
  try {
    const found = await snapshots.read(service, snapshot.version);
    if (!found) return undefined;
    const { position, until, parts } = found;
    const state = snapshot.from(parts);
    const reaches = reached?.(state) ?? {};
    const since = await eventsSince(log, reaches);
    if (!since) throw new Error('it is of another log');
    return { state, position, until, since, kept: { events: eventCount(reaches), parts: parts.length } };
  } catch (err) {
    logger.warn({ err, service }, 'a snapshot is of no use: the log is read instead');
    return undefined;
  }
}

/** The last event of a service up to a position behind its window's beginning. */
async function lastOf(
  service: string,
  { from, horizon }: WindowStart,
  until: Position,
  { follow, signal }: Pick<SeedPorts, 'follow' | 'signal'>,
): Promise<Position> {
  let found = horizon;
  const selection = { prefixes: [`${service}.`], from: from === 0n ? ('start' as const) : from, signal };
  for await (const { events, position = 0n, caughtUp } of follow(selection)) {
    for (const event of events) if (event.position <= until) found = event.position;
    if (caughtUp || position >= until) return found;
  }
  throw new Error(`reading the last event of ${service} was stopped`);
}

/** Events opened together: their keys come from another server. */
const AT_ONCE = 1000;
