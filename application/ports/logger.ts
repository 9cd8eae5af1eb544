/** Structured logging. */

/** One line about one thing, with fields; never a token, a body or a name. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
