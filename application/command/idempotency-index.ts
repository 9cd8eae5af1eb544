/** The commands with an `Idempotency-Key` that are known of a stream, by what they wrote. */
import type { EventLog } from '../ports/index.js';
import { pagesOf } from './read-stream-pages.js';
import { LOOKED_BACK } from './replay-start.js';

/** The revisions that a command with an `Idempotency-Key` wrote. */
export interface KeyedCommand {
  readonly first: number;
  readonly last: number;
}

/** Those of a stream. */
export interface Keyed {
  /** By command id. Facts of the log: shared by all that is loaded of a stream. */
  readonly keyed: Map<string, KeyedCommand>;
  /** From this revision on all of them are there. */
  readonly keyedFrom: number;
}

/** Of a kind of stream, how many of its events are kept, or looked back to. */
interface Keeping {
  readonly keeps?: number;
  readonly saysAll?: unknown;
}

/** Adds what a keyed command wrote, and drops those whose events the log keeps no longer, or nobody looks back to. */
export function noteCommand(
  { saysAll, keeps = saysAll ? LOOKED_BACK : Number.POSITIVE_INFINITY }: Keeping,
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

/**
 * Of a stream that was read up to a revision the commands of before, too, as far back as any is known; undefined where
 * they are all there. Rejects with `Unavailable`.
 */
export async function keyedBefore(
  log: Pick<EventLog, 'read'>,
  kind: Keeping,
  stream: string,
  { revision, keyedFrom }: Pick<Keyed, 'keyedFrom'> & { readonly revision: number },
): Promise<Keyed | undefined> {
  const from = Math.max(0, revision + 1 - LOOKED_BACK);
  if (keyedFrom <= from) return undefined;
  const keyed: Keyed['keyed'] = new Map();
  for await (const page of pagesOf(log, stream, from)) {
    for (const { metadata, revision } of page) {
      noteCommand(kind, keyed, metadata, { first: revision, last: revision });
    }
  }
  return { keyed, keyedFrom: from };
}
