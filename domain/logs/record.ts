/** What is understood of a log record, whoever wrote it: pino, winston, bunyan, journald or a hand. */
import { isObject, type Json, type JsonObject, parseExact } from './json.js';
import { parseTimestamp } from './timestamp.js';

export interface LogRecord {
  /** Unix ms: what orders it. */
  readonly instant: number;
  /** Upper case: `INFO`, `ERROR`, ... */
  readonly level: string;
  /** Undefined where the record has neither an event nor a message. */
  readonly event: string | undefined;
  readonly message: string;
  readonly correlationId: string | undefined;
  readonly producerId: string;
  readonly audit: boolean;
  /** The record as it came; numbers that a double can't hold stand in it as texts of their digits. */
  readonly data: JsonObject;
  /** The same as the JSON text that is shown: with every number as it came. */
  readonly json: string;
}

/** A record in its place: `id` orders those of one instant, and is the same after every rebuild. */
export interface PlacedRecord extends LogRecord {
  readonly id: string;
}

const PINO = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];
const SYSLOG = ['FATAL', 'FATAL', 'FATAL', 'ERROR', 'WARN', 'INFO', 'INFO', 'DEBUG'];

/** Understands the JSON text of a record, as `exactText` writes it. */
export const readRecord = (json: string, producerId: string, receivedAt: number): LogRecord =>
  understand(parseExact(json) as JsonObject, producerId, receivedAt, json);

/** Understands a record; total. `receivedAt` is its instant where it names none. */
export function understand(
  data: JsonObject,
  producerId: string,
  receivedAt: number,
  json = JSON.stringify(data),
): LogRecord {
  const message = textOf(data.message ?? data.msg ?? data.MESSAGE);
  return {
    instant: instantIn(data) ?? receivedAt,
    level: levelIn(data),
    event: textOf(data.event) || message || undefined,
    message,
    correlationId: textOf(data.correlationId) || textOf(data.requestId) || textOf(data.traceId) || undefined,
    producerId,
    audit: isAudit(data),
    data,
    json,
  };
}

export const isAudit = (data: JsonObject): boolean => data.audit === true;

/** What may tell the instant of a record: the first that can be read does. */
export const TIMES = ['timestamp', 'time', '@timestamp', 'ts', '__REALTIME_TIMESTAMP'] as const;

const instantIn = ({ timestamp, time, '@timestamp': at, ts, __REALTIME_TIMESTAMP: real }: JsonObject) =>
  parseTimestamp(timestamp) ?? parseTimestamp(time) ?? parseTimestamp(at) ?? parseTimestamp(ts) ?? parseTimestamp(real);

function levelIn({ level, severity, PRIORITY }: JsonObject): string {
  const given = level ?? severity;
  if (typeof given === 'number') return ofPino(given);
  if (typeof given === 'string' && given.trim() !== '') {
    const name = given.trim();
    return /^\d+$/.test(name) ? ofPino(Number(name)) : name.toUpperCase();
  }
  return SYSLOG[Number(PRIORITY ?? Number.NaN)] ?? 'INFO';
}

const ofPino = (level: number) => PINO[Math.min(PINO.length, Math.max(1, Math.floor(level / 10))) - 1] ?? 'INFO';

function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);
}
