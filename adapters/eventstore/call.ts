/** Gives every event store call a deadline, and translates temporary errors to `UnavailableError`. */
import type { ResolvedEvent, StreamingRead } from '@eventstore/db-client';
import { STORE_CALL_MS, withDeadline } from '../../application/concurrency/index.js';
import { CorruptEventError, type Logger, UnavailableError } from '../../application/ports/index.js';
import {
  AccessDeniedError,
  DeadlineExceededError,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  RequiredMetadataPropertyMissingError,
  StreamDeletedError,
  StreamNotFoundError,
  UnknownError,
  UnsupportedError,
  WrongExpectedVersionError,
} from './driver.js';

/** gRPC status of data that is damaged. */
const DATA_LOSS = 15;

/**
 * Errors that are answers of the store. Any other error counts as unavailability: a failover has many error
 * texts, and often none.
 */
const ANSWERS = [
  WrongExpectedVersionError,
  StreamDeletedError,
  StreamNotFoundError,
  MaxAppendSizeExceededError,
  AccessDeniedError,
  InvalidArgumentError,
  RequiredMetadataPropertyMissingError,
  UnsupportedError,
];

/**
 * Runs a call within its deadline. The driver sends a deadline but does not enforce it; a call that was given up
 * may still take effect.
 */
export async function callStore<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await withDeadline(STORE_CALL_MS, call(), 'the event store');
  } catch (error) {
    throw translateError(error);
  }
}

/**
 * Milliseconds before which a timeout error means a clock difference. A cluster without a quorum gives the same
 * error, but after 2 s at the earliest.
 */
const CLOCK_SKEW_MS = 1500;

/**
 * Returns a function that runs an append with a deadline in ms. The driver sends it as an instant of this
 * machine's clock. If that clock is behind the server's, the deadline has passed on arrival: the append is sent
 * again without one, and so are all later ones.
 */
export function createAppendDeadline(logger: Logger) {
  let isBehind = false;
  return async <T>(append: (deadline: number) => Promise<T>): Promise<T> => {
    const without = () => callStore(() => append(Number.POSITIVE_INFINITY));
    if (isBehind) return without();
    const startedAt = performance.now();
    try {
      return await callStore(() => append(STORE_CALL_MS));
    } catch (error) {
      const isRefused = error instanceof UnavailableError && error.cause instanceof DeadlineExceededError;
      if (!isRefused || performance.now() - startedAt >= CLOCK_SKEW_MS) throw error;
    }
    const done = await without();
    if (!isBehind) logger.warn({}, CLOCK_BEHIND);
    isBehind = true;
    return done;
  };
}

const CLOCK_BEHIND =
  "this machine's clock is behind the event store's, so appends have no deadline; correct the clock and restart";

/**
 * Reads all events of a stream. The deadline applies to each event: a long stream may take long, but must not
 * stall.
 */
export async function readAll(open: () => StreamingRead<ResolvedEvent>): Promise<readonly ResolvedEvent[]> {
  const events: ResolvedEvent[] = [];
  const stream = open();
  // Errors after the read was given up.
  stream.on('error', () => {});
  const onTimeout = () => stream.destroy(new UnavailableError(`the event store was silent for ${STORE_CALL_MS} ms`));
  const deadline = setTimeout(onTimeout, STORE_CALL_MS);
  try {
    for await (const resolved of stream) {
      events.push(resolved);
      deadline.refresh();
    }
    return events;
  } catch (error) {
    // An answered read ends by itself. Cancelling it crosses its end on the way, which HTTP/2 counts as an error:
    // after a thousand of them the connection is closed, with all other calls on it.
    if (!(error instanceof StreamNotFoundError)) stream.cancel().catch(() => {});
    throw translateError(error);
  } finally {
    clearTimeout(deadline);
  }
}

/** Translates an error of the driver. */
export function translateError(error: unknown): unknown {
  if (error instanceof UnknownError && error.code === DATA_LOSS)
    return new CorruptEventError(`the log is damaged: ${error.message}`, { cause: error });
  if (error instanceof UnavailableError || ANSWERS.some((answer) => error instanceof answer)) return error;
  return new UnavailableError('the event store is away', { cause: error });
}
