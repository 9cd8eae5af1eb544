/** Errors of stores and keys that the application handles. */

/** The log or the rows can't be reached now: a 503, not a refusal. What was asked may have been done or not. */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError';
}

/** Something sealed that nobody can open ever again: damaged, or its key is of another backup, or lost. */
export class UndecryptableError extends Error {
  override readonly name = 'UndecryptableError';
  constructor(
    readonly subject: string,
    /** Tells one sealed thing from another. */
    readonly sealed: string,
    options?: ErrorOptions,
  ) {
    super(`something sealed for ${subject} can't be opened`, options);
  }
}

/** Something in the log is not what was written there, and never will be; the message says where. */
export class CorruptEventError extends Error {
  override readonly name = 'CorruptEventError';
}

/** A store refuses writes because its disk is full; nothing of this one was stored. */
export class StoreFullError extends UnavailableError {
  override readonly name = 'StoreFullError';
}

/** Whether the same call may succeed a moment later. */
export const isTransient = (error: unknown): boolean =>
  error instanceof UnavailableError && !(error instanceof StoreFullError);
