/** Idempotency index: which events of a stream each command with an `Idempotency-Key` wrote. */
import type { EventLog } from '../ports/index.js';
import { readForward } from './read-stream-pages.js';
import { LOOKBACK_EVENTS } from './replay-start.js';

/** First and last revision that a command wrote. */
export interface CommandRange {
  readonly first: number;
  readonly last: number;
}

export interface IdempotencyIndex {
  /** By command id. Shared by all loaded versions of a stream, as it only records what is in the log. */
  readonly keyed: Map<string, CommandRange>;
  /** Every keyed command from this revision on is in the index. */
  readonly indexedFrom: number;
}

/** What limits how far back keys are found: `maxCount`, or `LOOKBACK_EVENTS` with snapshot events. */
interface Retention {
  readonly maxCount?: number;
  readonly isSnapshotEvent?: unknown;
}

/** Adds the events of a keyed command, and drops commands beyond the retention. */
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
 * Reads the index of a stream back to `LOOKBACK_EVENTS` before its current revision; undefined if the given index
 * reaches as far already.
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
