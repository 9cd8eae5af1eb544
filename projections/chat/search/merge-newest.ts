/** The newest of what is found in many packs and runs, without sorting it for each of them. */
import type { Position } from '../../../application/ports/index.js';
import type { BlockHeader } from './block-directory.js';
import type { Texts } from './packed-text.js';

/** A line that has all that is asked for. */
export interface Match {
  readonly head: BlockHeader;
  readonly texts: Texts;
  readonly slot: number;
  readonly posted: Position;
}

/** Of both, which are in order, the newest first; each once, though it may be met in a run and where it was packed into. */
export function mergeNewest(some: readonly Match[], others: readonly Match[], limit: number): readonly Match[] {
  if (others.length === 0) return some;
  const both: Match[] = [];
  for (let [a, b] = [0, 0]; both.length < limit; ) {
    const [one, other] = [some[a], others[b]];
    const next = one && (!other || one.posted >= other.posted) ? one : other;
    if (!next) break;
    if (one?.posted === next.posted) a++;
    if (other?.posted === next.posted) b++;
    both.push(next);
  }
  return both;
}

/** Whether nothing in this run or pack, or in those behind it, comes before what is found already. */
export const isComplete = (found: readonly Match[], limit: number, { last }: BlockHeader): boolean =>
  found.length >= limit && found.at(-1)!.posted >= last;
