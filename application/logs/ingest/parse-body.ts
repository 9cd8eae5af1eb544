/** Parses an ingest body: NDJSON, an array, `{logs: [...]}` or one object; collects errors by line. */
import type { RecordText } from '../../../domain/logs/batch.js';
import {
  compactJson,
  isObject,
  isShallow,
  type Json,
  type JsonObject,
  stringifyExact,
} from '../../../domain/logs/json.js';
import { endOfValue, type JsonItem, scanItems, scanValue, skipBlanks } from '../../../domain/logs/json-scanner.js';
import { isAudit } from '../../../domain/logs/record.js';
import { type Checkpoint, yieldOnly } from '../query/query-budget.js';

export interface LineError {
  /** From 1: line of NDJSON, or index in the array. */
  readonly line: number;
  readonly error: string;
}

export interface ParsedBody {
  readonly records: readonly RecordText[];
  readonly rejected: number;
  /** At most the first 20. */
  readonly errors: readonly LineError[];
}

/** Format by content type: `json` must be JSON; only in `lines` may a record have a member `logs`. */
export type BodyFormat = 'json' | 'lines' | 'anything';

export const RECORD_BYTES = 64 * 1024;
/** Maximum records of a request, rejected ones included (docs/guide/bounds.md). */
export const MAX_RECORDS = 50_000;
const DEPTH = 64;
const BYTE_ORDER_MARK = '\uFEFF';
const MAX_ERRORS = 20;

const NOT_AN_OBJECT = 'is not a JSON object';
const TOO_LARGE = 'is larger than 64 KiB';
const TOO_DEEP = `is nested more than ${DEPTH} deep`;
const INVALID_JSON = 'is not valid JSON';

export type BodyError = 'not-json' | 'too-many';

/**
 * Parses a body one record at a time: parsed all together it would take a hundred times its text in memory.
 * Overwrites the `producerId` of records. Throws what the checkpoint throws.
 */
export async function parseBody(
  body: string,
  format: BodyFormat,
  producerId: string,
  checkpoint: Checkpoint = yieldOnly,
): Promise<ParsedBody | BodyError> {
  const text = body.startsWith(BYTE_ORDER_MARK) ? body.slice(1) : body;
  const pieces = await jsonPieces(text, format, checkpoint);
  const parsed = pieces && (await parsePieces(text, pieces, producerId, checkpoint));
  if (parsed) return parsed;
  const lines = await parsePieces(text, linesOf(text), producerId, checkpoint);
  const empty = skipBlanks(text, 0) === text.length;
  if (format !== 'json' || empty || lines === undefined || lines === 'too-many') return lines ?? 'not-json';
  return lines.records.length === 0 ? 'not-json' : lines;
}

export function parseLines(text: string, producerId: string): ParsedBody {
  const collector = createRecordCollector(producerId);
  for (const piece of linesOf(text)) if (piece) collector.take(text, piece);
  return collector.done();
}

interface Piece extends Pick<JsonItem, 'from' | 'to'> {
  readonly line: number;
}

/** Yields a record's range, or undefined where it may pause; returns -1 if the text has another format. */
type Pieces = Generator<Piece | undefined, number>;

async function parsePieces(
  text: string,
  pieces: Pieces,
  producerId: string,
  checkpoint: Checkpoint,
): Promise<ParsedBody | 'too-many' | undefined> {
  const collector = createRecordCollector(producerId);
  let count = 0;
  for (let next = pieces.next(); ; next = pieces.next()) {
    if (next.done) return next.value < 0 ? undefined : collector.done();
    if (next.value && ++count > MAX_RECORDS) return 'too-many';
    if (next.value) collector.take(text, next.value);
    const pause = checkpoint();
    if (pause) await pause;
  }
}

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

/** Undefined if the body is neither an array nor a single object. */
async function jsonPieces(text: string, format: BodyFormat, checkpoint: Checkpoint): Promise<Pieces | undefined> {
  const from = skipBlanks(text, 0);
  if (text[from] === '[') return elementsOf(text, from);
  const to = text[from] === '{' ? await runScan(scanValue(text, from), checkpoint) : -1;
  if (to < 0 || skipBlanks(text, to) < text.length) return undefined;
  let logs: JsonItem | undefined;
  for (const member of format === 'lines' ? [] : scanItems(text, from)) {
    if (member?.key === 'logs') logs = member;
    const pause = checkpoint();
    if (pause) await pause;
  }
  return logs && text[logs.from] === '[' ? elementsOf(text, logs.from, to) : singlePiece({ line: 1, from, to });
}

async function runScan(scan: Generator<undefined, number>, checkpoint: Checkpoint): Promise<number> {
  for (let next = scan.next(); ; next = scan.next()) {
    if (next.done) return next.value;
    const pause = checkpoint();
    if (pause) await pause;
  }
}

/** Elements of an array that ends the text; `end`, if given, is the known end of the enclosing value. */
function* elementsOf(text: string, from: number, end?: number): Pieces {
  const items = scanItems(text, from);
  let line = 0;
  for (let next = items.next(); ; next = items.next()) {
    if (next.done) return next.value < 0 || (end ?? skipBlanks(text, next.value)) < text.length ? -1 : 0;
    yield next.value && { ...next.value, line: ++line };
  }
}

function* singlePiece(piece: Piece): Pieces {
  yield piece;
  return 0;
}

function createRecordCollector(producerId: string) {
  const records: RecordText[] = [];
  const errors: LineError[] = [];
  let rejected = 0;
  const reject = (line: number, reason: string) => {
    rejected++;
    if (errors.length < MAX_ERRORS) errors.push({ line, error: `Line ${line} ${reason}` });
  };
  return {
    take(text: string, { line, from, to }: Piece) {
      const record = parseRecordText(text.slice(from, to).trim(), producerId);
      if (typeof record === 'string') reject(line, record);
      else records.push(record);
    },
    done: (): ParsedBody => ({ records, rejected, errors }),
  };
}

/** Returns the record, or why it is rejected. Oversized texts are never parsed. */
function parseRecordText(body: string, producerId: string): RecordText | string {
  const text = Buffer.byteLength(body) > RECORD_BYTES ? stripBlanks(body) : body;
  if (Buffer.byteLength(text) > RECORD_BYTES) return TOO_LARGE;
  const value = parse(text);
  if (value === undefined) return INVALID_JSON;
  if (!isObject(value)) return NOT_AN_OBJECT;
  if (!isShallow(text, DEPTH)) return TOO_DEEP;
  const json = setProducer(producerId, stringifyExact(text, value), value);
  return { json, bytes: Buffer.byteLength(json), audit: isAudit(value) };
}

/** Maximum factor, by indentation, of a record's raw size over its limit. */
const MAX_INDENT_FACTOR = 8;

const stripBlanks = (text: string): string =>
  text.length > MAX_INDENT_FACTOR * RECORD_BYTES || endOfValue(text, 0) < 0 ? text : compactJson(text);

function setProducer(producerId: string, json: string, value: JsonObject): string {
  if (!Object.hasOwn(value, 'producerId')) return json;
  let [result, from] = ['', 0];
  for (const member of scanItems(json, 0)) {
    if (member?.key !== 'producerId') continue;
    result += json.slice(from, member.from) + JSON.stringify(producerId);
    from = member.to;
  }
  return result + json.slice(from);
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
