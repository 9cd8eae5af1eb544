/** Errors of stores and keys that the application handles. */

/** A store cannot be reached now (503). The requested change may or may not have been made. */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError';
}

/** Encrypted data that can never be decrypted: it is damaged, or its key is lost or from another backup. */
export class UndecryptableError extends Error {
  override readonly name = 'UndecryptableError';
  constructor(
    readonly subject: string,
    /** Identifies the ciphertext. */
    readonly sealed: string,
    options?: ErrorOptions,
  ) {
    super(`data encrypted for ${subject} cannot be decrypted`, options);
  }
}

/** An event in the log is corrupt; the message says which. */
export class CorruptEventError extends Error {
  override readonly name = 'CorruptEventError';
}

/** The event store holds only a part of a log that is being migrated to it. */
export class UnfinishedMigrationError extends Error {
  override readonly name = 'UnfinishedMigrationError';
}

/** A store refuses writes because its disk is full; nothing was stored. */
export class StoreFullError extends UnavailableError {
  override readonly name = 'StoreFullError';
}

/** Whether the same call may succeed a moment later. */
export const isTransient = (error: unknown): boolean =>
  error instanceof UnavailableError && !(error instanceof StoreFullError);
