/** The commands with an `Idempotency-Key` that are known of a stream, by what they wrote. */
import type { EventLog } from '../ports/index.js';
import { readForward } from './read-stream-pages.js';
import { LOOKBACK_EVENTS } from './replay-start.js';

/** The revisions that a command with an `Idempotency-Key` wrote. */
export interface CommandRange {
  readonly first: number;
  readonly last: number;
}

/** Those of a stream. */
export interface IdempotencyIndex {
  /** By command id. Facts of the log: shared by all that is loaded of a stream. */
  readonly keyed: Map<string, CommandRange>;
  /** From this revision on all of them are there. */
  readonly indexedFrom: number;
}

/** Of a kind of stream, how many of its events are kept, or looked back to. */
interface Retention {
  readonly maxCount?: number;
  readonly isSnapshotEvent?: unknown;
}

/** Adds what a keyed command wrote, and drops those whose events the log maxCount no longer, or nobody looks back to. */
export function recordCommand(
  { isSnapshotEvent, maxCount = isSnapshotEvent ? LOOKBACK_EVENTS : Number.POSITIVE_INFINITY }: Retention,
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

/**
 * Of a stream that was read up to a revision the commands of before, too, as far back as any is known; undefined where
 * they are all there. Rejects with `Unavailable`.
 */
export async function indexBefore(
  log: Pick<EventLog, 'read'>,
  kind: Retention,
  stream: string,
  { revision, indexedFrom }: Pick<IdempotencyIndex, 'indexedFrom'> & { readonly revision: number },
): Promise<IdempotencyIndex | undefined> {
  const from = Math.max(0, revision + 1 - LOOKBACK_EVENTS);
  if (indexedFrom <= from) return undefined;
  const keyed: IdempotencyIndex['keyed'] = new Map();
  for await (const page of readForward(log, stream, from)) {
    for (const { metadata, revision } of page) {
      recordCommand(kind, keyed, metadata, { first: revision, last: revision });
    }
  }
  return { keyed, indexedFrom: from };
}
