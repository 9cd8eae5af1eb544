/** What a fold of the log begins with where the live feed begins: a snapshot of before, and the facts since (docs/relay.md). */
import type { EventLog, Follow, Position, RecordedEvent, RevealedEvent } from '../ports.js';
import type { WindowStart, Windows } from './window.js';

/** A fold of some of a service's events. Pure: a state that was given out never changes. */
export interface Fold<State> {
  readonly initialState: State;
  /** The events that make another state of one: its facts. */
  readonly types: readonly string[];
  evolve(state: State, event: RevealedEvent): State;
  /** The streams that all of them stand in, where these are few. */
  readonly streams?: readonly string[] | undefined;
  readonly snapshot?: SnapshotForm<State> | undefined;
  readonly living?: Living<State> | undefined;
}

/** The streams that all of a state stands in, of many that there ever were: in them may be what is sealed. */
export interface Living<State> {
  /** As of a snapshot. */
  readonly version: number;
  /** Their names are kept for the next start, which reads them from their beginning. */
  streams(state: State): Iterable<string>;
}

/** What is written of a state for later. */
export interface KeptForm<State> {
  /** Raised whenever the state, or which events make it, changes in shape or meaning: it is folded anew then. */
  readonly version: number;
  /** JSON all of it, each far smaller than a document may be (1 MB), and equal states of equal parts. */
  parts(state: State): Iterable<unknown>;
}

/** How a state is kept as it is: nothing in it may be of what is sealed in the log. */
export interface SnapshotForm<State> extends KeptForm<State> {
  from(parts: readonly unknown[]): State;
}

/** What is kept of a fold for the next start; nothing where its streams are few, or none. */
export function keptFormOf<State>({
  streams,
  snapshot,
  living,
}: Pick<Fold<State>, 'streams' | 'snapshot' | 'living'>): KeptForm<State> | undefined {
  if (streams) return undefined;
  return snapshot ?? (living && { version: living.version, parts: (state) => living.streams(state) });
}

export interface Snapshot {
  /** The state reflects everything up to here, and nothing after it. */
  readonly position: Position;
  /** Up to here there is no fact more. */
  readonly until: Position;
  readonly parts: readonly unknown[];
}

/** The last snapshot of each service's fold. Where the log ends before its `until` it is of another log, and forgotten. */
export interface Snapshots {
  /** Undefined where none of this version is, or not all of it. */
  read(service: string, version: number): Promise<Snapshot | undefined>;
  /** Replaces the one before as a whole; false, and nothing is changed, when that is newer. */
  write(service: string, version: number, position: Position, parts: Iterable<unknown>): Promise<boolean>;
  /** There is no fact more up to here. False when the one at this position has been replaced. */
  extend(service: string, version: number, position: Position, until: Position): Promise<boolean>;
}

/** A state, and the position up to which everything is in it. */
export interface At<State> {
  readonly state: State;
  readonly position: Position;
}

export interface Seed<State> extends At<State> {
  /** Where the feed is to begin: as asked, or where the snapshot is if that is later: who was away longer is reset. */
  readonly window: WindowStart;
}

export interface SeedPorts {
  readonly follow: Follow;
  readonly log: Pick<EventLog, 'read'>;
  /** Opens an event of the service. */
  readonly reveal: (event: RecordedEvent) => Promise<RevealedEvent>;
  readonly snapshots: Pick<Snapshots, 'read'>;
  readonly signal: AbortSignal;
}

/** The state of a fold before anything that comes after the beginning of its service's window. */
export async function readSeed<State>(
  service: string,
  fold: Fold<State>,
  window: WindowStart,
  { follow, log, reveal, snapshots, signal }: SeedPorts,
): Promise<Seed<State>> {
  const { initialState, types, evolve, streams, snapshot } = fold;
  let state = initialState;
  const seed = () => ({ state, position: window.from, window });
  const take = async (events: readonly RecordedEvent[], until = window.from) => {
    for (let done = 0; done < events.length; done += AT_ONCE) {
      const some = events.slice(done, done + AT_ONCE).filter(({ position }) => position <= until);
      for (const event of await Promise.all(some.map(reveal))) state = evolve(state, event);
    }
  };
  if (streams) {
    await take(await factsIn(log, streams, types));
    return seed();
  }
  const form = keptFormOf(fold);
  const kept = form && (await snapshots.read(service, form.version));
  if (kept && snapshot) state = snapshot.from(kept.parts);
  else if (kept) await take(await factsIn(log, kept.parts.map(String), types), kept.position);
  if (kept && kept.position > window.from) {
    const { position } = kept;
    // Not behind it, where nothing of the service may stand: readers are owed what comes before the window.
    const horizon = await lastOf(service, window, position, { follow, signal });
    return { state, position, window: { horizon, from: position } };
  }
  const known = kept?.until ?? 0n;
  if (types.length === 0 || known >= window.from) return seed();
  const from = known === 0n ? 'start' : known;
  for await (const { events, position = 0n, caughtUp } of follow({ service, types, from, signal })) {
    await take(events);
    if (caughtUp || position >= window.from) return seed();
  }
  throw new Error(`reading the facts of ${service} was stopped`);
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

/** Streams read together. */
const STREAMS_AT_ONCE = 50;

async function factsIn(log: SeedPorts['log'], streams: readonly string[], types: readonly string[]) {
  const found: RecordedEvent[] = [];
  for (let done = 0; done < streams.length; done += STREAMS_AT_ONCE) {
    const some = streams.slice(done, done + STREAMS_AT_ONCE).map((stream) => log.read(stream));
    for (const events of await Promise.all(some))
      if (typeof events !== 'string') found.push(...events.filter(({ type }) => types.includes(type)));
  }
  return found.sort((a, b) => (a.position < b.position ? -1 : 1));
}

export interface KeepOptions<State> {
  readonly service: string;
  readonly form: KeptForm<State>;
  readonly snapshots: Pick<Snapshots, 'write' | 'extend'>;
  /** As nodes leave them for the next start. */
  readonly windows: Pick<Windows, 'read'>;
  readonly now: () => At<State>;
}

/**
 * Keeps the snapshot that the next start needs, at most as new as the window is old: a state of now is held back until
 * the window begins behind it. To be called now and then, one call at a time; says whether it has written a whole one.
 */
export function createSnapshotKeeper<State>({ service, form, snapshots, windows, now }: KeepOptions<State>) {
  const { version } = form;
  let held: At<State> | undefined;
  let written: (At<State> & { readonly until: Position }) | undefined;

  return async (): Promise<boolean> => {
    held ??= now();
    const window = await windows.read(service);
    if (!window || window.from < held.position) return false;
    const { state, position } = held;
    held = undefined;
    // One state is one object: what is the same has had no fact since.
    if (written?.state === state) {
      if (written.until === position) return false;
      if (await snapshots.extend(service, version, written.position, position)) {
        written = { ...written, until: position };
        return false;
      }
    }
    const isWritten = await snapshots.write(service, version, position, form.parts(state));
    written = isWritten ? { state, position, until: position } : undefined;
    return true;
  };
}
