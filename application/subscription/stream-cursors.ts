/** How far the streams of a fold have been read, and what was done in them under a key: all that it takes to go on there. */
import { PersistentMap } from '../../domain/shared/index.js';
import { type CommandRange, type LoadedAggregate, recordCommand } from '../command/index.js';
import type { EventLog, Position, RecordedEvent } from '../ports/index.js';

export interface StreamCursor {
  /** Of the last event folded in; -1 where there was none. */
  readonly revision: number;
  /** Its position; 0 where there was none. */
  readonly position: Position;
  readonly keyed: PersistentMap<CommandRange>;
}

/** By stream. */
export type StreamCursors = { readonly [stream: string]: StreamCursor };

const begin: StreamCursor = { revision: -1, position: 0n, keyed: PersistentMap.empty() };

/** Before the first event of each. */
export const initialCursors = (streams: readonly string[]): StreamCursors =>
  Object.fromEntries(streams.map((stream) => [stream, begin]));

type Placed = Pick<RecordedEvent, 'stream' | 'revision' | 'position' | 'metadata'>;

/** With one more event of one of the streams. */
export function advance(reaches: StreamCursors, { stream, revision, position, metadata }: Placed): StreamCursors {
  const { keyed } = reaches[stream] ?? begin;
  const { commandId } = metadata;
  const known = commandId === undefined ? undefined : keyed.get(commandId);
  const noted = new Map(known && commandId !== undefined ? [[commandId, known]] : []);
  recordCommand({}, noted, metadata, { first: revision, last: revision });
  const [entry] = noted;
  const reached = { revision, position, keyed: entry ? keyed.set(...entry) : keyed };
  return { ...reaches, [stream]: reached };
}

/** How many events were folded in. */
export const eventCount = (reaches: StreamCursors): number =>
  Object.values(reaches).reduce((sum, { revision }) => sum + revision + 1, 0);

/** A part of the state as what its stream has come to: commands can be decided on it. */
export const loadedAt = <State>(
  state: State,
  { revision, position, keyed }: StreamCursor = begin,
): LoadedAggregate<State> => ({
  state,
  revision,
  position,
  keyed: new Map(keyed),
  indexedFrom: 0,
  deleted: false,
});

/** The events since, in the order of the log; undefined where these streams are of another log. */
export async function eventsSince(
  log: Pick<EventLog, 'read'>,
  reaches: StreamCursors,
): Promise<readonly RecordedEvent[] | undefined> {
  const reading = Object.entries(reaches).map(async ([stream, { revision, position }]) => {
    const begins = revision < 0;
    const events = await log.read(stream, { from: Math.max(revision, 0) });
    if (typeof events === 'string') return begins ? [] : undefined;
    if (begins) return events;
    const [last, ...since] = events;
    return last?.revision === revision && last.position === position ? since : undefined;
  });
  const all = await Promise.all(reading);
  if (all.includes(undefined)) return undefined;
  return all.flatMap((events) => events ?? []).sort((a, b) => (a.position < b.position ? -1 : 1));
}

export interface ReachedPart {
  readonly stream: string;
  readonly revision: number;
  readonly position: string;
}

export interface KeyedPart {
  readonly stream: string;
  readonly keyed: readonly (readonly [commandId: string, first: number, last: number])[];
}

/** Keyed commands in a part. */
const KEYED_AT_ONCE = 1000;

/** As JSON. */
export function* serialize(reaches: StreamCursors): Generator<ReachedPart | KeyedPart> {
  for (const [stream, { revision, position, keyed }] of Object.entries(reaches)) {
    yield { stream, revision, position: String(position) };
    let some: KeyedPart['keyed'][number][] = [];
    for (const [commandId, { first, last }] of keyed) {
      some.push([commandId, first, last]);
      if (some.length < KEYED_AT_ONCE) continue;
      yield { stream, keyed: some };
      some = [];
    }
    if (some.length > 0) yield { stream, keyed: some };
  }
}

/** With what a part says, in the order in which they were written. */
export function reachedWith(reaches: StreamCursors, part: ReachedPart | KeyedPart): StreamCursors {
  const { stream } = part;
  const reached = reaches[stream] ?? begin;
  if ('keyed' in part) {
    let { keyed } = reached;
    for (const [commandId, first, last] of part.keyed) keyed = keyed.set(commandId, { first, last });
    return { ...reaches, [stream]: { ...reached, keyed } };
  }
  const { revision, position } = part;
  return { ...reaches, [stream]: { ...reached, revision, position: BigInt(position) } };
}
