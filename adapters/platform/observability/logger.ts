/** The process log: pino, written as JSON lines or, on a terminal, as lines for people. */
import picocolors from 'picocolors';
import { type DestinationStream, pino } from 'pino';
import { type Logger, UnavailableError } from '../../../application/ports/index.js';
import { MASK, maskCredentials } from '../config/mask.js';
import type { RecentErrors } from './recent-errors.js';
import { escapeControls } from './safe-text.js';

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** `auto` is pretty on a terminal and json elsewhere. */
  readonly format: 'auto' | 'json' | 'pretty';
  /** Added to every line. */
  readonly fields?: { readonly [name: string]: string };
  /** Default: standard output. */
  readonly to?: Output;
  /** Receives every line too, as JSON. */
  readonly recentErrors?: Pick<RecentErrors, 'write'>;
}

/** `writableLength`: buffered bytes the reader has not taken yet. */
export type Output = DestinationStream & { readonly writableLength?: number; readonly isTTY?: boolean };

/** Most bytes buffered for a slow reader; further lines are dropped so that the process never waits for it. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/** Masked as a safety net; callers must not log them in the first place. */
const SECRETS = ['token', 'sessionToken', 'inviteToken', 'accessToken', 'refreshToken', 'ingestToken']
  .concat(['password', 'secret', 'authorization', 'cookie', 'set-cookie', 'x-analytics-token'])
  .concat(['body', 'query', 'querystring', 'ciphertext', 'signature']);

/** Whether lines are written for people instead of programs. */
export const isPretty = (format: LoggerOptions['format'], to: Output = process.stdout): boolean =>
  format === 'pretty' || (format === 'auto' && to.isTTY === true);

/** A logger for details of the start: `debug` where a start table is printed instead, `info` elsewhere. */
export const startLogger = (logger: Logger, format: LoggerOptions['format']): Logger =>
  isPretty(format)
    ? {
        debug: (fields, message) => logger.debug(fields, message),
        info: (fields, message) => logger.debug(fields, message),
        warn: (fields, message) => logger.warn(fields, message),
        error: (fields, message) => logger.error(fields, message),
      }
    : logger;

export function createLogger({ level, format, fields = {}, to, recentErrors }: LoggerOptions): Logger {
  const stream = dropWhenFull(to ?? process.stdout, (lines) => logger.warn({ lines }, LINES_DROPPED));
  const pretty = isPretty(format, to);
  const write = (line: string) => {
    recentErrors?.write(line);
    stream.write(pretty ? prettyLine(line) : line);
  };
  const logger = pino(
    {
      level,
      base: fields,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => serializeError(error) },
      redact: {
        paths: SECRETS.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
        censor: MASK,
      },
    },
    { write },
  );
  return logger;
}

const LINES_DROPPED = 'log lines were dropped here because the output was not read';

/** Writes without a buffer of its own, so that no line is lost at the end; drops lines while the output is full. */
function dropWhenFull(to: Output, reportDropped: (lines: number) => void): DestinationStream {
  let dropped = 0;
  return {
    write(line) {
      if ((to.writableLength ?? 0) > MAX_BUFFERED_BYTES) {
        dropped++;
        return;
      }
      const lines = dropped;
      dropped = 0;
      if (lines > 0) reportDropped(lines);
      to.write(line);
    },
  };
}

/**
 * Logs type, message, code and stack only: drivers attach whole commands and documents to their errors. The stack of an
 * unavailable store is left out: any part of the program may notice it first.
 */
function serializeError(error: unknown, isWithin = false): object {
  if (!(error instanceof Error)) return { message: 'a value was thrown that is not an Error' };
  const { name, message, stack, cause } = error;
  const isExpected = isWithin || error instanceof UnavailableError;
  const code = 'code' in error ? error.code : undefined;
  return {
    type: name,
    message: maskCredentials(message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(stack && !isExpected ? { stack: maskCredentials(stack) } : {}),
    ...(cause instanceof Error ? { cause: serializeError(cause, isExpected) } : {}),
    ...(error instanceof AggregateError
      ? { errors: error.errors.map((each) => serializeError(each, isExpected)) }
      : {}),
  };
}

const COLORS: { readonly [level: string]: (text: string) => string } = {
  debug: picocolors.gray,
  info: picocolors.green,
  warn: picocolors.yellow,
  error: picocolors.red,
};

/** @param json A line of the JSON log. */
function prettyLine(json: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json);
  const color = COLORS[level] ?? String;
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${format(value)}`);
  const head = `${picocolors.dim(timeOfDay(time))} ${color(String(level).padEnd(5))} ${escapeControls(msg ?? '')}`;
  const line = rest.length > 0 ? `${head} ${picocolors.dim(rest.join(' '))}` : head;
  return err ? `${line}\n${color(indent(err.stack ?? messageOf(err)))}\n` : `${line}\n`;
}

const messageOf = ({ message, cause }: { message: string; cause?: { message: string } }) =>
  cause ? `${message}: ${cause.message}` : message;
const format = (value: unknown) => escapeControls(typeof value === 'string' ? value : JSON.stringify(value));
const indent = (text: unknown) =>
  String(text)
    .split('\n')
    .map((line) => `    ${escapeControls(line)}`)
    .join('\n');

function timeOfDay(time: string): string {
  const date = new Date(time);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
