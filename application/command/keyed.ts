/** The commands with an `Idempotency-Key` that are known of a stream, by what they wrote. */

/** The revisions that a command with an `Idempotency-Key` wrote. */
export interface KeyedCommand {
  readonly first: number;
  readonly last: number;
}

/** Adds what a keyed command wrote, and drops commands whose events the log keeps no longer. */
export function noteCommand(
  { keeps = Number.POSITIVE_INFINITY }: { readonly keeps?: number },
  keyed: Map<string, KeyedCommand>,
  { commandId, fingerprint }: { readonly commandId?: string; readonly fingerprint?: string },
  { first, last }: KeyedCommand,
): void {
  if (commandId && fingerprint) {
    keyed.set(commandId, { first: Math.min(first, keyed.get(commandId)?.first ?? first), last });
  }
  for (const [oldest, command] of keyed) {
    if (command.last > last - keeps) break;
    keyed.delete(oldest);
  }
}
