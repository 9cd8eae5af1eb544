/** Keeps the last warnings and errors of this process in memory, for the operations port. */

/** A line of the process log, as it was written there: with secrets masked. */
export interface RecentError {
  readonly time: string;
  readonly level: 'warn' | 'error';
  readonly message: string;
  /** Message of the error that the line reports. */
  readonly error?: string;
}

export interface RecentErrors {
  /** @param line A line of the JSON log, of any level. */
  write(line: string): void;
  /** The newest first. */
  list(): readonly RecentError[];
  /** Lines of level error since the start. */
  errorCount(): number;
}

const MAX_LINES = 100;
/** Bounds the memory; in UTF-16 code units for each text. */
const MAX_TEXT = 1000;

const IS_ERROR = /^\{"level":"(?:warn|error)"/;

export function createRecentErrors(): RecentErrors {
  const lines: RecentError[] = [];
  let errors = 0;
  return {
    write(line) {
      // Most lines are of other levels, and are not worth parsing.
      if (!IS_ERROR.test(line)) return;
      const { time, level, msg, err } = JSON.parse(line);
      const message = String(msg ?? '').slice(0, MAX_TEXT);
      const error = err?.message === undefined ? {} : { error: String(err.message).slice(0, MAX_TEXT) };
      if (level === 'error') errors++;
      lines.unshift({ time, level, message, ...error });
      if (lines.length > MAX_LINES) lines.pop();
    },
    list: () => [...lines],
    errorCount: () => errors,
  };
}
