/** Text format of a block: a JSON head with positions, then one JSON line per record. */
import { createYielder } from '../../../application/concurrency/index.js';
import { levelBit } from '../../../domain/logs/levels.js';
import { type IdentifiedRecord, type LogRecord, parseRecord } from '../../../domain/logs/record.js';
import { recordId } from '../../../domain/logs/record-id.js';
import { createTermSet } from '../../kernel/index.js';
import { buildColumns } from './column-builder.js';

interface Head {
  readonly producerId: string;
  /** Log positions of the records' events. */
  readonly events: readonly string[];
  readonly levels: readonly string[];
  /** Instant of the record preceding the first. */
  readonly before: number;
  /** Four numbers per record: ms since the previous, index in `events`, index in the batch, index in `levels`. */
  readonly columns: readonly number[];
}

const COLUMNS = 4;
const [EVENT, PLACE] = [1, 2];

export interface Places {
  readonly events: readonly string[];
  /** Three numbers per run of consecutive records: index in `events`, batch index of the first, and length. */
  readonly runs: readonly number[];
  readonly sizes: readonly number[];
}

export type BlockBuilder = ReturnType<typeof buildBlock>;

/** Bytes of a record in memory, besides its text and terms. */
const RECORD_BYTES = 100;
/** Characters after which a chunk ends: smaller ones compress much worse. */
const CHUNK_CHARACTERS = 32 * 1024;

export function buildBlock(producerId: string) {
  const events: string[] = [];
  const levels = new Map<string, number>();
  const columns: number[] = [];
  const lines: string[] = [];
  const chunks: number[] = [];
  /** Of each chunk. */
  const correlations: Set<string>[] = [];
  const terms = createTermSet();
  const fields = buildColumns(terms);
  const instants: number[] = [];
  let [from, to] = [Number.POSITIVE_INFINITY, 0];
  let [size, bits] = [0, 0];
  let chunkSize = CHUNK_CHARACTERS;
  let event = -1n;

  return {
    producerId,
    columns: fields,
    terms,
    lines,
    instants,
    chunks,
    get count() {
      return lines.length;
    },
    get size() {
      return size;
    },
    get memory() {
      return 2 * size + terms.memory + RECORD_BYTES * lines.length + fields.memory;
    },
    add(record: LogRecord, line: string, position: bigint, place: number) {
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
      if (chunkSize >= CHUNK_CHARACTERS) {
        chunks.push(lines.length);
        correlations.push(new Set());
        chunkSize = 0;
      }
      if (record.correlationId !== undefined) correlations.at(-1)!.add(record.correlationId);
      fields.add(record, chunks.length - 1);
      lines.push(line);
      size += line.length;
      chunkSize += line.length;
    },
    /** Instants are Unix ms, sizes are characters of JSON. */
    summary: () => ({
      from,
      to,
      count: lines.length,
      size,
      levels: bits,
      chunks: [...chunks],
      correlations: correlations.map((each) => [...each]),
    }),
    text(from = 0): string {
      const values = columns.slice(from * COLUMNS);
      // Leaves out events of earlier records.
      const first = values[EVENT] ?? 0;
      for (let column = EVENT; column < values.length; column += COLUMNS) values[column]! -= first;
      const head: Head = {
        producerId,
        events: events.slice(first),
        levels: [...levels.keys()],
        before: instants[from - 1] ?? 0,
        columns: values,
      };
      return [JSON.stringify(head), ...lines.slice(from)].join('\n');
    },
    places(): Places {
      const runs: number[] = [];
      let [run, next] = [-1, 0];
      for (let column = 0; column < columns.length; column += COLUMNS) {
        const [values, place] = [columns[column + EVENT]!, columns[column + PLACE]!];
        if (values === runs.at(-3) && place === next) runs[run]!++;
        else run = runs.push(values, place, 1) - 1;
        next = place + 1;
      }
      return { events, runs, sizes: lines.map(({ length }) => length) };
    },
  };
}

/** A decrypted block that parses records on demand. */
export type DecodedBlock = ReturnType<typeof decodeBlock>;

interface Line {
  readonly instant: number;
  readonly level: string;
  readonly position: bigint;
  readonly place: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Reads the texts of a builder, in pieces or whole, without records of events after `until`. */
export function decodeBlock(texts: readonly string[], until?: bigint) {
  const lines: Line[] = [];
  let producerId = '';
  for (const text of texts) producerId = appendLines(text, lines);
  // Records are in log order, so those of later events come last.
  while (until !== undefined && lines.length > 0 && lines.at(-1)!.position > until) lines.pop();
  const at = (index: number) => lines[index]!;
  const line = (index: number) => at(index).text.slice(at(index).start, at(index).end);
  const id = (index: number) => recordId(at(index).position, at(index).place);
  return {
    count: lines.length,
    order: orderByInstant(lines.map(({ instant }) => instant)),
    instant: (index: number) => at(index).instant,
    level: (index: number) => at(index).level,
    id,
    size: (index: number) => at(index).end - at(index).start,
    line,
    testTexts: (test: (text: string) => boolean) => (index: number) => test(line(index)),
    /** Log position of a record's event. */
    position: (index: number) => at(index).position,
    /** Index of a record in its event. */
    place: (index: number) => at(index).place,
    record: (index: number): IdentifiedRecord => ({
      ...parseRecord(line(index), producerId, at(index).instant),
      id: id(index),
    }),
  };
}

/** Indexes of a block's records. Ids increase within a block, so records of equal instants are already ordered. */
export function orderByInstant(instants: readonly number[]): readonly number[] {
  const order = instants.map((_, index) => index);
  if (instants.some((instant, index) => instant < instants[index - 1]!))
    order.sort((a, b) => instants[a]! - instants[b]! || a - b);
  return order;
}

function appendLines(text: string, lines: Line[]): string {
  const headEnd = text.indexOf('\n');
  const { producerId, events, levels, before, columns }: Head = JSON.parse(text.slice(0, headEnd));
  const positions = events.map(parsePosition);
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

export const parsePosition = (digits: string) =>
  Array.from(digits).reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n);

/** Canonical text of a block, independent of the pieces it was written in. */
export async function wholeText(texts: readonly string[], producerId: string): Promise<string> {
  return (await reopenBlock(texts, producerId)).text();
}

/** Restores the builder of a stored block. */
export async function reopenBlock(texts: readonly string[], producerId: string): Promise<BlockBuilder> {
  const decoded = decodeBlock(texts);
  const block = buildBlock(producerId);
  const yieldIfDue = createYielder();
  for (let index = 0; index < decoded.count; index++) {
    block.add(decoded.record(index), decoded.line(index), decoded.position(index), decoded.place(index));
    const pause = yieldIfDue();
    if (pause) await pause;
  }
  return block;
}
