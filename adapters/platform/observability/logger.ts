/** The log of the process: pino, one line of JSON about one thing, or the same for people on a terminal. */
import { type DestinationStream, pino } from 'pino';
import { type Logger, UnavailableError } from '../../../application/ports/index.js';
import { MASK, maskCredentials } from '../config/mask.js';
import { prettyLine } from './pretty-line.js';

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** `auto` is pretty on a terminal and json elsewhere. */
  readonly format: 'auto' | 'json' | 'pretty';
  /** Fields of every line. */
  readonly fields?: { readonly [name: string]: string };
  /** Default standard output. */
  readonly to?: Output;
}

/** `writableLength`: how much waits for whoever reads it. `isTTY`: a terminal reads it. */
export type Output = DestinationStream & { readonly writableLength?: number; readonly isTTY?: boolean };

/** Of lines that wait for whoever reads them: they wait for him, and nobody else does. */
const UNREAD_BYTES = 1024 * 1024;

/** Never to be logged in the first place; should it happen all the same, this is the net. */
const SECRETS = ['token', 'sessionToken', 'inviteToken', 'accessToken', 'refreshToken', 'ingestToken']
  .concat(['password', 'secret', 'authorization', 'cookie', 'set-cookie', 'x-analytics-token'])
  .concat(['body', 'query', 'querystring', 'ciphertext', 'signature']);

export function createLogger({ level, format, fields = {}, to }: LoggerOptions): Logger {
  const stream = whileRead(to ?? process.stdout, (lines) => logger.warn({ lines }, LEFT_OUT));
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

const LEFT_OUT = 'lines were left out here: nobody read them';

/** What is read is written at once, so that nothing is lost when the process ends; what is not has a bound. */
function whileRead(to: Output, tell: (lines: number) => void): DestinationStream {
  let leftOut = 0;
  return {
    write(line) {
      if ((to.writableLength ?? 0) > UNREAD_BYTES) {
        leftOut++;
        return;
      }
      const lines = leftOut;
      leftOut = 0;
      if (lines > 0) tell(lines);
      to.write(line);
    },
  };
}

/**
 * Only what says what went wrong and where: drivers hang whole commands and documents on their errors. A store that is
 * away is nothing unexpected: where in the program it was asked helps nobody, and everything asks it.
 */
function serializeError(error: unknown, isWithin = false): object {
  if (!(error instanceof Error)) return { message: 'a value was thrown that is no error' };
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
