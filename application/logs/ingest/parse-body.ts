/** Reads what was posted to ingest: NDJSON, an array, `{logs: [...]}` or one object; errors by line. */
import type { RecordText } from '../../../domain/logs/batch.js';
import { exactText, isObject, isShallow, type Json, type JsonObject, tidied } from '../../../domain/logs/json.js';
import { endOfValue, type Item, itemsOf, scanValue, skipBlanks } from '../../../domain/logs/json-scanner.js';
import { isAudit } from '../../../domain/logs/record.js';
import { type Checkpoint, yieldOnly } from '../query/query-budget.js';

export interface LineError {
  /** From 1: the line of NDJSON, or the place in the array. */
  readonly line: number;
  readonly error: string;
}

export interface ReadBody {
  readonly records: readonly RecordText[];
  readonly rejected: number;
  /** The first 20. */
  readonly errors: readonly LineError[];
}

/** What a body was announced as: `json` must be JSON, and only `lines` can have a record with a member `logs`. */
export type Announced = 'json' | 'lines' | 'anything';

export const RECORD_BYTES = 64 * 1024;
/** Records of a request, rejected ones included (docs/guide/bounds.md). */
export const MOST_RECORDS = 50_000;
const DEPTH = 64;
const BYTE_ORDER_MARK = '\uFEFF';
const ERRORS_TOLD = 20;

const NO_OBJECT = 'is not a JSON object';
const TOO_LARGE = 'is larger than 64 KiB';
const TOO_DEEP = `is nested more than ${DEPTH} deep`;
const NO_JSON = 'is not valid JSON';

/** Why a body is not taken at all. */
export type Unread = 'not-json' | 'too-many';

/**
 * Reads a body, one record after the other: as objects all at once, it would take a hundred times its text in
 * memory. What its records say of their producer is overwritten. Throws what the pace throws.
 */
export async function readBody(
  given: string,
  announced: Announced,
  producerId: string,
  pace: Checkpoint = yieldOnly,
): Promise<ReadBody | Unread> {
  const text = given.startsWith(BYTE_ORDER_MARK) ? given.slice(1) : given;
  const whole = await wholeOf(text, announced, pace);
  const read = whole && (await readAll(text, whole, producerId, pace));
  if (read) return read;
  const lines = await readAll(text, linesOf(text), producerId, pace);
  const empty = skipBlanks(text, 0) === text.length;
  if (announced !== 'json' || empty || lines === undefined || lines === 'too-many') return lines ?? 'not-json';
  return lines.records.length === 0 ? 'not-json' : lines;
}

/** Every line that is not blank is one record. */
export function readLines(text: string, producerId: string): ReadBody {
  const reading = createReading(producerId);
  for (const piece of linesOf(text)) if (piece) reading.take(text, piece);
  return reading.done();
}

interface Piece extends Pick<Item, 'from' | 'to'> {
  readonly line: number;
}

/** Gives records, and nothing where it may pause; returns -1 when the text turns out to be something else. */
type Pieces = Generator<Piece | undefined, number>;

/** Undefined when it is no JSON as a whole. */
async function readAll(
  text: string,
  pieces: Pieces,
  producerId: string,
  pace: Checkpoint,
): Promise<ReadBody | 'too-many' | undefined> {
  const reading = createReading(producerId);
  let count = 0;
  for (let next = pieces.next(); ; next = pieces.next()) {
    if (next.done) return next.value < 0 ? undefined : reading.done();
    if (next.value && ++count > MOST_RECORDS) return 'too-many';
    if (next.value) reading.take(text, next.value);
    const turn = pace();
    if (turn) await turn;
  }
}

/** So many may follow each other without a pause. */
const BLANK_LINES = 1024;

function* linesOf(text: string): Pieces {
  let line = 0;
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf('\n', from);
    const to = newline < 0 ? text.length : newline;
    line++;
    if (text.slice(from, to).trim() !== '') yield { line, from, to };
    else if (line % BLANK_LINES === 0) yield undefined;
    from = to + 1;
  }
  return text.length;
}

/** Undefined when the body is no array, and more than one object. */
async function wholeOf(text: string, announced: Announced, pace: Checkpoint): Promise<Pieces | undefined> {
  const from = skipBlanks(text, 0);
  if (text[from] === '[') return elementsOf(text, from);
  const to = text[from] === '{' ? await endOf(scanValue(text, from), pace) : -1;
  if (to < 0 || skipBlanks(text, to) < text.length) return undefined;
  let logs: Item | undefined;
  for (const member of announced === 'lines' ? [] : itemsOf(text, from)) {
    if (member?.key === 'logs') logs = member;
    const turn = pace();
    if (turn) await turn;
  }
  return logs && text[logs.from] === '[' ? elementsOf(text, logs.from, to) : one({ line: 1, from, to });
}

async function endOf(scan: Generator<undefined, number>, pace: Checkpoint): Promise<number> {
  for (let next = scan.next(); ; next = scan.next()) {
    if (next.done) return next.value;
    const turn = pace();
    if (turn) await turn;
  }
}

/** Of an array behind which nothing more stands, but for what `end` says is known. */
function* elementsOf(text: string, from: number, end?: number): Pieces {
  const items = itemsOf(text, from);
  let line = 0;
  for (let next = items.next(); ; next = items.next()) {
    if (next.done) return next.value < 0 || (end ?? skipBlanks(text, next.value)) < text.length ? -1 : 0;
    yield next.value && { ...next.value, line: ++line };
  }
}

function* one(piece: Piece): Pieces {
  yield piece;
  return 0;
}

function createReading(producerId: string) {
  const records: RecordText[] = [];
  const errors: LineError[] = [];
  let rejected = 0;
  const reject = (line: number, why: string) => {
    rejected++;
    if (errors.length < ERRORS_TOLD) errors.push({ line, error: `Line ${line} ${why}` });
  };
  return {
    take(text: string, { line, from, to }: Piece) {
      const record = recordOf(text.slice(from, to).trim(), producerId);
      if (typeof record === 'string') reject(line, record);
      else records.push(record);
    },
    done: (): ReadBody => ({ records, rejected, errors }),
  };
}

/** A record, or why it is none. Nothing is built of what is too large. */
function recordOf(given: string, producerId: string): RecordText | string {
  const text = Buffer.byteLength(given) > RECORD_BYTES ? withoutBlanks(given) : given;
  if (Buffer.byteLength(text) > RECORD_BYTES) return TOO_LARGE;
  const value = parse(text);
  if (value === undefined) return NO_JSON;
  if (!isObject(value)) return NO_OBJECT;
  if (!isShallow(value, DEPTH)) return TOO_DEEP;
  const json = producedBy(producerId, exactText(text, value), value);
  return { json, bytes: Buffer.byteLength(json), audit: isAudit(value) };
}

/** Indented, a record may be this many times as large as it is. */
const BLANKS = 8;

const withoutBlanks = (text: string): string =>
  text.length > BLANKS * RECORD_BYTES || endOfValue(text, 0) < 0 ? text : tidied(text);

/** With `producerId` in the place of what a record says of its producer, if it does. */
function producedBy(producerId: string, json: string, value: JsonObject): string {
  if (!Object.hasOwn(value, 'producerId')) return json;
  let [written, from] = ['', 0];
  for (const member of itemsOf(json, 0)) {
    if (member?.key !== 'producerId') continue;
    written += json.slice(from, member.from) + JSON.stringify(producerId);
    from = member.to;
  }
  return written + json.slice(from);
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
