/** The process log: pino, one JSON line per message, or formatted lines on a terminal. */
import { type DestinationStream, pino } from 'pino';
import { type Logger, UnavailableError } from '../../../application/ports/index.js';
import { MASK, maskCredentials } from '../config/mask.js';
import { prettyLine } from './pretty-line.js';

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** `auto` is pretty on a terminal and json elsewhere. */
  readonly format: 'auto' | 'json' | 'pretty';
  /** Fields added to every line. */
  readonly fields?: { readonly [name: string]: string };
  /** Default: standard output. */
  readonly to?: Output;
}

/** `writableLength`: unread bytes. `isTTY`: it is a terminal. */
export type Output = DestinationStream & { readonly writableLength?: number; readonly isTTY?: boolean };

/** Unread bytes beyond which lines are dropped instead of blocking the process. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** Fields that must never be logged; redacted as a safety net. */
const SECRETS = ['token', 'sessionToken', 'inviteToken', 'accessToken', 'refreshToken', 'ingestToken']
  .concat(['password', 'secret', 'authorization', 'cookie', 'set-cookie', 'x-analytics-token'])
  .concat(['body', 'query', 'querystring', 'ciphertext', 'signature']);

export function createLogger({ level, format, fields = {}, to }: LoggerOptions): Logger {
  const stream = dropUnread(to ?? process.stdout, (lines) => logger.warn({ lines }, LINES_DROPPED));
  const pretty = format === 'pretty' || (format === 'auto' && (to ?? process.stdout).isTTY === true);
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
    pretty ? { write: (line) => stream.write(prettyLine(line)) } : stream,
  );
  return logger;
}

const LINES_DROPPED = 'log lines dropped because the output was not read';

/** Writes lines directly, so that none is lost when the process ends, and drops them while the output is not read. */
function dropUnread(to: Output, onDropped: (lines: number) => void): DestinationStream {
  let dropped = 0;
  return {
    write(line) {
      if ((to.writableLength ?? 0) > MAX_UNREAD_BYTES) {
        dropped++;
        return;
      }
      const lines = dropped;
      dropped = 0;
      if (lines > 0) onDropped(lines);
      to.write(line);
    },
  };
}

/**
 * Keeps only the fields that explain an error: drivers attach whole commands and documents. Stacks of
 * `UnavailableError` are left out: outages are expected and every caller logs them.
 */
function serializeError(error: unknown, isCause = false): object {
  if (!(error instanceof Error)) return { message: 'a non-error value was thrown' };
  const { name, message, stack, cause } = error;
  const omitStack = isCause || error instanceof UnavailableError;
  const code = 'code' in error ? error.code : undefined;
  return {
    type: name,
    message: maskCredentials(message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(stack && !omitStack ? { stack: maskCredentials(stack) } : {}),
    ...(cause instanceof Error ? { cause: serializeError(cause, omitStack) } : {}),
    ...(error instanceof AggregateError ? { errors: error.errors.map((each) => serializeError(each, omitStack)) } : {}),
  };
}
