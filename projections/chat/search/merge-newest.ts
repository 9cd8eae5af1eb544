/** Merges matches from many blocks, newest first, up to a limit. */
import type { Position } from '../../../application/ports/index.js';
import type { BlockHeader } from './block-directory.js';
import type { Texts } from './packed-text.js';

/** A line that matches the query. */
export interface Match {
  readonly header: BlockHeader;
  readonly texts: Texts;
  readonly slot: number;
  readonly posted: Position;
}

/** Merges two sorted lists, newest first. A message found in both a run and its pack appears once. */
export function mergeNewest(some: readonly Match[], others: readonly Match[], limit: number): readonly Match[] {
  if (others.length === 0) return some;
  const merged: Match[] = [];
  for (let [a, b] = [0, 0]; merged.length < limit; ) {
    const [one, other] = [some[a], others[b]];
    const next = one && (!other || one.posted >= other.posted) ? one : other;
    if (!next) break;
    if (one?.posted === next.posted) a++;
    if (other?.posted === next.posted) b++;
    merged.push(next);
  }
  return merged;
}

/** Whether no later block can contribute a newer match. */
export const isComplete = (found: readonly Match[], limit: number, { last }: BlockHeader): boolean =>
  found.length >= limit && found.at(-1)!.posted >= last;
