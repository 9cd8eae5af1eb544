/** A run of records as one text: a head with their places, then one line of JSON a record. */
import { createYielder } from '../../../application/concurrency/index.js';
import { levelBit } from '../../../domain/logs/levels.js';
import { type LogRecord, type IdentifiedRecord, parseRecord } from '../../../domain/logs/record.js';
import { recordId } from '../../../domain/logs/record-id.js';
import { growTermFilter, makeTermFilter } from './bloom-filter.js';
import { buildColumns, type Columns } from './column-builder.js';
import type { TermSet } from './term-set.js';

interface Head {
  readonly producerId: string;
  /** Positions of the events the records came with. */
  readonly events: readonly string[];
  readonly levels: readonly string[];
  /** Instant of the record before the first. */
  readonly before: number;
  /** For every record: ms since the one before, index in `events`, place in its batch, index in `levels`. */
  readonly columns: readonly number[];
}

const COLUMNS = 4;
/** Where in them the index in `events` stands, and the place in the batch. */
const [EVENT, PLACE] = [1, 2];

/** Where the records stand in the log. */
export interface Places {
  /** Positions of the events they came with. */
  readonly events: readonly string[];
  /** Of records that follow each other in one batch: index in `events`, place of the first, and how many they are. */
  readonly runs: readonly number[];
  /** Characters of every record. */
  readonly sizes: readonly number[];
}

/** What the index knows of a block without opening it; what of it is sealed or digested is not its business. */
export interface BlockSummary {
  /** Unix ms of its first and last record. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Characters of its records. */
  readonly size: number;
  /** Sum of the `levelBit` of every level in it. */
  readonly levels: number;
  readonly correlations: readonly string[];
}

/** Records on their way into a block, in the order of the log. */
export interface BlockBuilder {
  readonly producerId: string;
  readonly count: number;
  /** Characters of its records. */
  readonly size: number;
  readonly columns: Columns;
  readonly terms: TermSet;
  /** The records' own JSON texts. */
  readonly lines: readonly string[];
  /** Unix ms, of every record. */
  readonly instants: readonly number[];
  /** What it takes in memory, about, in bytes. */
  readonly memory: number;
  /** `line` is the record's own JSON text. */
  add(record: LogRecord, line: string, position: bigint, place: number): void;
  summary(): BlockSummary;
  /** A filter of its terms. `growing`: more will be added, and this be asked again. */
  filter(growing?: boolean): Uint8Array;
  /** All of it, or the records from an index on. */
  text(from?: number): string;
  places(): Places;
}

/** What is kept of a record besides its text and terms. */
const RECORD_BYTES = 100;

export function buildBlock(producerId: string): BlockBuilder {
  const events: string[] = [];
  const levels = new Map<string, number>();
  const columns: number[] = [];
  const lines: string[] = [];
  const correlations = new Set<string>();
  const grown = growTermFilter();
  const { terms } = grown;
  const fields = buildColumns();
  const instants: number[] = [];
  let [from, to] = [Number.POSITIVE_INFINITY, 0];
  let [size, bits] = [0, 0];
  let event = -1n;

  return {
    producerId,
    columns: fields,
    terms,
    lines,
    instants,
    get count() {
      return lines.length;
    },
    get size() {
      return size;
    },
    get memory() {
      return 2 * size + terms.memory + RECORD_BYTES * lines.length + fields.memory;
    },
    add(record, line, position, place) {
      if (position !== event) {
        event = position;
        events.push(position.toString(36));
      }
      const level = levels.get(record.level) ?? levels.size;
      levels.set(record.level, level);
      bits |= levelBit(record.level);
      columns.push(record.instant - (instants.at(-1) ?? 0), events.length - 1, place, level);
      instants.push(record.instant);
      from = Math.min(from, record.instant);
      to = Math.max(to, record.instant);
      if (record.correlationId !== undefined) correlations.add(record.correlationId);
      fields.add(record, grown.add);
      lines.push(line);
      size += line.length;
    },
    summary: () => ({
      from,
      to,
      count: lines.length,
      size,
      levels: bits,
      correlations: [...correlations],
    }),
    filter: (growing = false) => (growing ? grown.filter() : makeTermFilter(terms, terms.size)),
    text(from = 0) {
      const own = columns.slice(from * COLUMNS);
      // Of many events before its own a piece need not tell.
      const first = own[EVENT] ?? 0;
      for (let column = EVENT; column < own.length; column += COLUMNS) own[column]! -= first;
      const head: Head = {
        producerId,
        events: events.slice(first),
        levels: [...levels.keys()],
        before: instants[from - 1] ?? 0,
        columns: own,
      };
      return [JSON.stringify(head), ...lines.slice(from)].join('\n');
    },
    places() {
      const runs: number[] = [];
      let [run, next] = [-1, 0];
      for (let column = 0; column < columns.length; column += COLUMNS) {
        const [own, place] = [columns[column + EVENT]!, columns[column + PLACE]!];
        if (own === runs.at(-3) && place === next) runs[run]!++;
        else run = runs.push(own, place, 1) - 1;
        next = place + 1;
      }
      return { events, runs, sizes: lines.map(({ length }) => length) };
    },
  };
}

/** A block whose text is at hand; records are parsed when they are asked for. */
export interface OpenBlock {
  readonly count: number;
  /** Index of every record, in the order of answers (instant, then id). */
  readonly order: readonly number[];
  instant(index: number): number;
  level(index: number): string;
  id(index: number): string;
  /** Characters of the record's JSON text. */
  size(index: number): number;
  /** The record's JSON text. */
  line(index: number): string;
  record(index: number): IdentifiedRecord;
  /** Position of the event it came with. */
  position(index: number): bigint;
  place(index: number): number;
}

interface Line {
  readonly instant: number;
  readonly level: string;
  readonly position: bigint;
  readonly place: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Takes up what `text` of a builder gave, in pieces or whole, without what came with events after `until`. */
export function openBlock(texts: readonly string[], until?: bigint): OpenBlock {
  const lines: Line[] = [];
  let producerId = '';
  for (const text of texts) producerId = readLines(text, lines);
  // Records stand in the order of the log, so those of later events are at the end.
  while (until !== undefined && lines.length > 0 && lines.at(-1)!.position > until) lines.pop();
  const order = lines.map((_, index) => index);
  // Within a block ids only grow, so that equal instants are in order as they stand.
  if (lines.some(({ instant }, index) => index > 0 && instant < lines[index - 1]!.instant))
    order.sort((a, b) => lines[a]!.instant - lines[b]!.instant || a - b);

  const at = (index: number) => lines[index]!;
  const line = (index: number) => at(index).text.slice(at(index).start, at(index).end);
  const id = (index: number) => recordId(at(index).position, at(index).place);
  return {
    count: lines.length,
    order,
    instant: (index) => at(index).instant,
    level: (index) => at(index).level,
    id,
    size: (index) => at(index).end - at(index).start,
    line,
    position: (index) => at(index).position,
    place: (index) => at(index).place,
    record: (index) => ({ ...parseRecord(line(index), producerId, at(index).instant), id: id(index) }),
  };
}

/** Adds the lines of a text; answers whose they are. */
function readLines(text: string, lines: Line[]): string {
  const headEnd = text.indexOf('\n');
  const { producerId, events, levels, before, columns }: Head = JSON.parse(text.slice(0, headEnd));
  const positions = events.map(readPosition);
  let [instant, start] = [before, headEnd + 1];
  for (let column = 0; column < columns.length; column += COLUMNS) {
    const [step = 0, event = 0, place = 0, level = 0] = columns.slice(column, column + COLUMNS);
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    instant += step;
    lines.push({ instant, level: levels[level]!, position: positions[event]!, place, text, start, end });
    start = end + 1;
  }
  return producerId;
}

/** What `toString(36)` wrote. */
export const readPosition = (digits: string) =>
  Array.from(digits).reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n);

/** The text of the same block built at once, however it was written. */
export async function wholeText(texts: readonly string[], producerId: string): Promise<string> {
  return (await reopenBlock(texts, producerId)).text();
}

/** A block to be gone on with, of its records from an instant on. */
export async function reopenBlock(texts: readonly string[], producerId: string, from = 0): Promise<BlockBuilder> {
  const open = openBlock(texts);
  const block = buildBlock(producerId);
  const breathe = createYielder();
  for (let index = 0; index < open.count; index++) {
    if (open.instant(index) >= from)
      block.add(open.record(index), open.line(index), open.position(index), open.place(index));
    const pause = breathe();
    if (pause) await pause;
  }
  return block;
}
