/** Parses untrusted URLs. */

/**
 * Parses a URL; undefined if it is invalid. Does not use `URL.canParse`: after some thousand calls, once optimized,
 * Node 20 rejects all URLs with letters such as `ü`.
 */
export function readUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
