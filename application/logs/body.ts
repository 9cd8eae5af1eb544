/** Reads what was posted to ingest: NDJSON, an array, `{logs: [...]}` or one object; errors by line. */
import { isObject, isShallow, type JsonObject } from '../../domain/logs/json.js';

export interface ReadRecord {
  readonly data: JsonObject;
  /** Its size as JSON text. */
  readonly bytes: number;
}

export interface LineError {
  /** From 1: the line of NDJSON, or the place in the array. */
  readonly line: number;
  readonly error: string;
}

export interface ReadBody {
  readonly records: readonly ReadRecord[];
  readonly rejected: number;
  /** The first 20. */
  readonly errors: readonly LineError[];
}

export const RECORD_BYTES = 64 * 1024;
const DEPTH = 64;
const ERRORS_TOLD = 20;

const NO_OBJECT = 'is not a JSON object';
const TOO_LARGE = 'is larger than 64 KiB';
const TOO_DEEP = `is nested more than ${DEPTH} deep`;
const NO_JSON = 'is not valid JSON';

/**
 * Reads a body. `json` says that it was announced as `application/json`: then it must be JSON as a whole, or
 * lines of it. Undefined when it is neither.
 */
export function readBody(text: string, json: boolean): ReadBody | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return { records: [], rejected: 0, errors: [] };
  const whole = looksWhole(trimmed) ? parse(trimmed) : undefined;
  if (whole !== undefined) return readWhole(whole);
  const lines = readLines(text);
  return json && lines.records.length === 0 ? undefined : lines;
}

/** Lines that are JSON each for themselves are NDJSON: parsing them as one would only fail at the second. */
function looksWhole(text: string): boolean {
  if (!text.startsWith('{')) return text.startsWith('[') || !text.includes('\n');
  const end = text.indexOf('\n');
  return end < 0 || parse(text.slice(0, end)) === undefined;
}

function readWhole(whole: unknown): ReadBody {
  const list = Array.isArray(whole)
    ? whole
    : isObject(whole) && Array.isArray(whole.logs)
      ? whole.logs
      : [whole];
  const reading = createReading();
  for (const [index, value] of list.entries()) reading.take(index + 1, value);
  return reading.done();
}

/** Every line that is not blank is one record. */
export function readLines(text: string): ReadBody {
  const reading = createReading();
  let line = 0;
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf('\n', from);
    const end = newline < 0 ? text.length : newline;
    line++;
    const each = text.slice(from, end).trim();
    const bytes = Buffer.byteLength(each);
    if (bytes > RECORD_BYTES) reading.reject(line, TOO_LARGE);
    else if (bytes > 0) reading.take(line, parse(each), bytes);
    from = end + 1;
  }
  return reading.done();
}

function createReading() {
  const records: ReadRecord[] = [];
  const errors: LineError[] = [];
  let rejected = 0;
  const reject = (line: number, why: string) => {
    rejected++;
    if (errors.length < ERRORS_TOLD) errors.push({ line, error: `Line ${line} ${why}` });
  };
  return {
    reject,
    take(line: number, value: unknown, size?: number) {
      if (value === undefined) return reject(line, NO_JSON);
      if (!isObject(value)) return reject(line, NO_OBJECT);
      if (!isShallow(value, DEPTH)) return reject(line, TOO_DEEP);
      const bytes = size ?? Buffer.byteLength(JSON.stringify(value));
      if (bytes > RECORD_BYTES) return reject(line, TOO_LARGE);
      records.push({ data: value, bytes });
    },
    done: (): ReadBody => ({ records, rejected, errors }),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
