/** Stream cursors: how far each stream of a fold was read, with its idempotency index. */
import { PersistentMap } from '../../domain/shared/index.js';
import { type CommandRange, type LoadedAggregate, recordCommand } from '../command/index.js';
import type { EventLog, Position, RecordedEvent } from '../ports/index.js';

export interface StreamCursor {
  /** Revision of the last event folded in; -1 for none. */
  readonly revision: number;
  /** Its position; 0 for none. */
  readonly position: Position;
  readonly commands: PersistentMap<CommandRange>;
}

/** Cursors by stream. */
export type StreamCursors = { readonly [stream: string]: StreamCursor };

const initialCursor: StreamCursor = { revision: -1, position: 0n, commands: PersistentMap.empty() };

/** Returns cursors before the first event of each stream. */
export const initialCursors = (streams: readonly string[]): StreamCursors =>
  Object.fromEntries(streams.map((stream) => [stream, initialCursor]));

type CursorEvent = Pick<RecordedEvent, 'stream' | 'revision' | 'position' | 'metadata'>;

/** Advances the cursor of the event's stream. */
export function advance(cursors: StreamCursors, { stream, revision, position, metadata }: CursorEvent): StreamCursors {
  const { commands } = cursors[stream] ?? initialCursor;
  const { commandId } = metadata;
  const range = commandId === undefined ? undefined : commands.get(commandId);
  const updates = new Map(range && commandId !== undefined ? [[commandId, range]] : []);
  recordCommand({}, updates, metadata, { first: revision, last: revision });
  const [entry] = updates;
  return { ...cursors, [stream]: { revision, position, commands: entry ? commands.set(...entry) : commands } };
}

/** Counts the events folded in. */
export const eventCount = (cursors: StreamCursors): number =>
  Object.values(cursors).reduce((sum, { revision }) => sum + revision + 1, 0);

/** Returns a part of the fold's state as the aggregate of its stream, so that commands can be decided on it. */
export const aggregateAt = <State>(
  state: State,
  { revision, position, commands }: StreamCursor = initialCursor,
): LoadedAggregate<State> => ({
  state,
  revision,
  position,
  commands: new Map(commands),
  deleted: false,
});

/** Reads the events after the cursors, in log order; undefined if the cursors belong to another log. */
export async function eventsSince(
  log: Pick<EventLog, 'read'>,
  cursors: StreamCursors,
): Promise<readonly RecordedEvent[] | undefined> {
  const tails = Object.entries(cursors).map(async ([stream, { revision, position }]) => {
    const isNew = revision < 0;
    const events = await log.read(stream, { from: Math.max(revision, 0) });
    if (typeof events === 'string') return isNew ? [] : undefined;
    if (isNew) return events;
    const [last, ...tail] = events;
    return last?.revision === revision && last.position === position ? tail : undefined;
  });
  const all = await Promise.all(tails);
  if (all.includes(undefined)) return undefined;
  return all.flatMap((events) => events ?? []).sort((a, b) => (a.position < b.position ? -1 : 1));
}

export interface CursorPart {
  readonly stream: string;
  readonly revision: number;
  readonly position: string;
}

export interface CommandsPart {
  readonly stream: string;
  readonly commands: readonly (readonly [commandId: string, first: number, last: number])[];
}

/** Commands in one part. */
const COMMANDS_PER_PART = 1000;

/** Serializes cursors as JSON parts. */
export function* serialize(cursors: StreamCursors): Generator<CursorPart | CommandsPart> {
  for (const [stream, { revision, position, commands }] of Object.entries(cursors)) {
    yield { stream, revision, position: String(position) };
    let chunk: CommandsPart['commands'][number][] = [];
    for (const [commandId, { first, last }] of commands) {
      chunk.push([commandId, first, last]);
      if (chunk.length < COMMANDS_PER_PART) continue;
      yield { stream, commands: chunk };
      chunk = [];
    }
    if (chunk.length > 0) yield { stream, commands: chunk };
  }
}

/** Restores cursors from one part; parts must be applied in the order in which they were written. */
export function applyCursorPart(cursors: StreamCursors, part: CursorPart | CommandsPart): StreamCursors {
  const { stream } = part;
  const cursor = cursors[stream] ?? initialCursor;
  if ('commands' in part) {
    let { commands } = cursor;
    for (const [commandId, first, last] of part.commands) commands = commands.set(commandId, { first, last });
    return { ...cursors, [stream]: { ...cursor, commands } };
  }
  const { revision, position } = part;
  return { ...cursors, [stream]: { ...cursor, revision, position: BigInt(position) } };
}
