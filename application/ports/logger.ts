/** Structured logging port. */

/** Writes one line with fields. Never log tokens, bodies or names of people. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
