/** The one place where a call to the event store gets its deadline and where "not now" becomes `Unavailable`. */
import type { ResolvedEvent, StreamingRead } from '@eventstore/db-client';
import { STORE_CALL_MS, withDeadline } from '../../application/concurrency/index.js';
import { CorruptEventError, UnavailableError } from '../../application/ports/index.js';
import {
  AccessDeniedError,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  RequiredMetadataPropertyMissingError,
  StreamDeletedError,
  StreamNotFoundError,
  UnknownError,
  UnsupportedError,
  WrongExpectedVersionError,
} from './driver.js';

/** The status of gRPC for what can't be read, now or later. */
const DATA_LOSS = 15;

/** What the store says on purpose. All else means that it is away: a fail-over has many words, and often none. */
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
 * What the store answers, within the deadline of a call. The driver sends a deadline but does not enforce it: what
 * it was asked may still be done later.
 */
export async function callStore<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await withDeadline(STORE_CALL_MS, call(), 'the event store');
  } catch (error) {
    throw translateError(error);
  }
}

/** All events of a read. Its deadline is that of each event: a long stream may take long, but may not stand still. */
export async function readAll(open: () => StreamingRead<ResolvedEvent>): Promise<readonly ResolvedEvent[]> {
  const found: ResolvedEvent[] = [];
  const reading = open();
  // What becomes of a read that was given up is told to nobody.
  reading.on('error', () => {});
  const late = () => reading.destroy(new UnavailableError(`the event store was silent for ${STORE_CALL_MS} ms`));
  const deadline = setTimeout(late, STORE_CALL_MS);
  try {
    for await (const resolved of reading) {
      found.push(resolved);
      deadline.refresh();
    }
    return found;
  } catch (error) {
    // A read that was answered ends by itself. To cancel it crosses its end on the way, which HTTP/2 takes for a fault: a
    // thousand of those, and the connection is given up, with all that others ask on it.
    if (!(error instanceof StreamNotFoundError)) reading.cancel().catch(() => {});
    throw translateError(error);
  } finally {
    clearTimeout(deadline);
  }
}

/** An error of the driver as what it means here. */
export function translateError(error: unknown): unknown {
  if (error instanceof UnknownError && error.code === DATA_LOSS)
    return new CorruptEventError(`the log is damaged: ${error.message}`, { cause: error });
  if (error instanceof UnavailableError || ANSWERS.some((answer) => error instanceof answer)) return error;
  return new UnavailableError('the event store is away', { cause: error });
}
