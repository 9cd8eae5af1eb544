/** Reads URLs, from whoever wrote them. */

/**
 * Undefined for what is none. `URL.canParse` would tell without an exception, but once it is compiled (after some
 * thousand calls) Node 20 refuses all with letters such as `ü`.
 */
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
