/** Idempotency index: which events of a stream each command with an `Idempotency-Key` wrote. */

/** First and last revision that a command wrote. */
export interface CommandRange {
  readonly first: number;
  readonly last: number;
}

/** Adds the events of a keyed command, and drops commands beyond `maxCount`. */
export function recordCommand(
  { maxCount = Number.POSITIVE_INFINITY }: { readonly maxCount?: number },
  keyed: Map<string, CommandRange>,
  { commandId, fingerprint }: { readonly commandId?: string; readonly fingerprint?: string },
  { first, last }: CommandRange,
): void {
  if (commandId && fingerprint) {
    keyed.set(commandId, { first: Math.min(first, keyed.get(commandId)?.first ?? first), last });
  }
  for (const [oldest, command] of keyed) {
    if (command.last > last - maxCount) break;
    keyed.delete(oldest);
  }
}
