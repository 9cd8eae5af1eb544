/** Normalises log records of pino, winston, bunyan, journald and similar loggers. */
import { isObject, type Json, type JsonObject, parseExact } from './json.js';
import { parseTimestamp } from './timestamp.js';

export interface LogRecord {
  /** Unix ms; records are ordered by it. */
  readonly instant: number;
  /** Upper case: `INFO`, `ERROR`, ... */
  readonly level: string;
  /** Undefined if the record has neither an event nor a message. */
  readonly event: string | undefined;
  readonly message: string;
  readonly correlationId: string | undefined;
  readonly producerId: string;
  readonly audit: boolean;
  /** The parsed record; numbers a double cannot represent are strings of their digits. */
  readonly data: JsonObject;
  /** JSON text of the record, numbers as received. */
  readonly json: string;
}

/** A record with its id, which is stable across rebuilds and orders records of the same instant. */
export interface IdentifiedRecord extends LogRecord {
  readonly id: string;
}

const PINO = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];
const SYSLOG = ['FATAL', 'FATAL', 'FATAL', 'ERROR', 'WARN', 'INFO', 'INFO', 'DEBUG'];

export const parseRecord = (json: string, producerId: string, receivedAt: number): LogRecord =>
  normalizeRecord(parseExact(json) as JsonObject, producerId, receivedAt, json);

/** Normalises a record; total. `receivedAt` is the default instant. */
export function normalizeRecord(
  data: JsonObject,
  producerId: string,
  receivedAt: number,
  json = JSON.stringify(data),
): LogRecord {
  const message = textOf(messageOf(data));
  return {
    instant: timestampOf(data) ?? receivedAt,
    level: levelOf(data),
    event: textOf(data.event) || message || undefined,
    message,
    correlationId: textOf(data.correlationId) || textOf(data.requestId) || textOf(data.traceId) || undefined,
    producerId,
    audit: isAudit(data),
    data,
    json,
  };
}

/** The member that is the message, of any type. */
export const messageOf = ({ message, msg, MESSAGE }: JsonObject): Json | undefined => message ?? msg ?? MESSAGE;

export const isAudit = (data: JsonObject): boolean => data.audit === true;

export const TIMESTAMP_FIELDS = ['timestamp', 'time', '@timestamp', 'ts', '__REALTIME_TIMESTAMP'] as const;

const timestampOf = ({ timestamp, time, '@timestamp': at, ts, __REALTIME_TIMESTAMP: real }: JsonObject) =>
  parseTimestamp(timestamp) ?? parseTimestamp(time) ?? parseTimestamp(at) ?? parseTimestamp(ts) ?? parseTimestamp(real);

function levelOf({ level, severity, PRIORITY }: JsonObject): string {
  const value = level ?? severity;
  if (typeof value === 'number') return pinoLevel(value);
  if (typeof value === 'string' && value.trim() !== '') {
    const name = value.trim();
    return /^\d+$/.test(name) ? pinoLevel(Number(name)) : name.toUpperCase();
  }
  return SYSLOG[Number(PRIORITY ?? Number.NaN)] ?? 'INFO';
}

const pinoLevel = (level: number) => PINO[Math.min(PINO.length, Math.max(1, Math.floor(level / 10))) - 1] ?? 'INFO';

function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);
}
