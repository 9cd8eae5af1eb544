/** A run of records as one text: a head with their columns, then one line of JSON a record. */
import type { JsonObject } from '../../domain/logs/json.js';
import { idOf } from '../../domain/logs/place.js';
import { type LogRecord, type PlacedRecord, understand } from '../../domain/logs/record.js';
import { correlationHash, termsOf } from '../../domain/logs/words.js';
import { makeTermFilter } from './term-filter.js';

interface Head {
  readonly producerId: string;
  /** Positions of the events the records came with. */
  readonly events: readonly string[];
  readonly levels: readonly string[];
  /** For every record: ms since the one before, index in `events`, place in its batch, index in `levels`. */
  readonly columns: readonly number[];
}

const COLUMNS = 4;

/** What the index knows of a block without opening it. */
export interface BlockSummary {
  /** Unix ms of its first and last record. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly levels: readonly { readonly level: string; readonly count: number }[];
  /** Hashes of the correlation ids in it. */
  readonly correlations: readonly number[];
  readonly terms: Uint8Array;
}

/** Records on their way into a block, in the order of the log. */
export interface BlockBuilder {
  readonly producerId: string;
  readonly count: number;
  add(record: LogRecord, position: bigint, place: number): void;
  summary(): BlockSummary;
  text(): string;
}

export function buildBlock(producerId: string): BlockBuilder {
  const events: string[] = [];
  const levels = new Map<string, { index: number; count: number }>();
  const columns: number[] = [];
  const lines: string[] = [];
  const correlations = new Set<number>();
  const terms = new Set<number>();
  const found = (term: number) => void terms.add(term);
  let [from, to, before] = [Number.POSITIVE_INFINITY, 0, 0];
  let event = -1n;

  return {
    producerId,
    get count() {
      return lines.length;
    },
    add(record, position, place) {
      if (position !== event) {
        event = position;
        events.push(position.toString(36));
      }
      let level = levels.get(record.level);
      if (!level) {
        level = { index: levels.size, count: 0 };
        levels.set(record.level, level);
      }
      level.count++;
      columns.push(record.instant - before, events.length - 1, place, level.index);
      before = record.instant;
      from = Math.min(from, record.instant);
      to = Math.max(to, record.instant);
      if (record.correlationId !== undefined) correlations.add(correlationHash(record.correlationId));
      termsOf(record, found);
      lines.push(JSON.stringify(record.data));
    },
    summary: () => ({
      from,
      to,
      count: lines.length,
      levels: Array.from(levels, ([level, { count }]) => ({ level, count })),
      correlations: [...correlations],
      terms: makeTermFilter(terms),
    }),
    text() {
      const head: Head = { producerId, events, levels: [...levels.keys()], columns };
      return [JSON.stringify(head), ...lines].join('\n');
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
  /** The record's JSON text. */
  line(index: number): string;
  record(index: number): PlacedRecord;
  /** Position of the event it came with. */
  position(index: number): bigint;
  place(index: number): number;
}

/** Takes up what `text` of a builder gave, without what came with events after `until`. */
export function openBlock(text: string, until?: bigint): OpenBlock {
  const start = text.indexOf('\n');
  const { producerId, events, levels, columns }: Head = JSON.parse(text.slice(0, start));
  const positions = events.map((event) =>
    Array.from(event).reduce((n, d) => n * 36n + BigInt(Number.parseInt(d, 36)), 0n),
  );
  const count = countUntil(columns, positions, until);
  const instants = new Float64Array(count);
  const starts = new Uint32Array(count + 1);
  let [instant, at, sorted] = [0, start + 1, true];
  for (let index = 0; index < count; index++) {
    const step = columns[index * COLUMNS]!;
    if (index > 0 && step < 0) sorted = false;
    instant += step;
    instants[index] = instant;
    starts[index] = at;
    const newline = text.indexOf('\n', at);
    at = newline < 0 ? text.length + 1 : newline + 1;
  }
  starts[count] = at;
  const order = Array.from({ length: count }, (_, index) => index);
  // Within a block ids only grow, so that equal instants are in order as they stand.
  if (!sorted) order.sort((a, b) => instants[a]! - instants[b]! || a - b);

  const line = (index: number) => text.slice(starts[index]!, starts[index + 1]! - 1);
  const position = (index: number) => positions[columns[index * COLUMNS + 1]!]!;
  const place = (index: number) => columns[index * COLUMNS + 2]!;
  const id = (index: number) => idOf(position(index), place(index));
  return {
    count,
    order,
    instant: (index) => instants[index]!,
    level: (index) => levels[columns[index * COLUMNS + 3]!]!,
    id,
    line,
    position,
    place,
    record(index) {
      const data: JsonObject = JSON.parse(line(index));
      return { ...understand(data, producerId, instants[index]!), id: id(index) };
    },
  };
}

/** Records stand in the order of the log, so those of later events are at the end. */
function countUntil(columns: readonly number[], positions: readonly bigint[], until?: bigint): number {
  let count = columns.length / COLUMNS;
  if (until === undefined) return count;
  while (count > 0 && positions[columns[(count - 1) * COLUMNS + 1]!]! > until) count--;
  return count;
}
