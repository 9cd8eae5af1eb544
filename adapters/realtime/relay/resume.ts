/** Decides where a stream starts from its client's cursor (docs/guide/relay.md). */
import type { Position } from '../../../application/ports/index.js';

/**
 * `fresh`: no cursor, starts with new items. `caught-up`: has seen everything. `missed`: the missed items are in
 * the ring. `too-old`: they are not, or the cursor was never issued. `ahead`: has seen more than this node, from
 * a node that is ahead; or the log was restored to an older state.
 */
export type Resumption = 'fresh' | 'caught-up' | 'missed' | 'too-old' | 'ahead';

/**
 * `horizon`: the ring holds everything after it. `latest`: position of the last item. Negative cursors are never
 * issued.
 */
export function resumption(
  after: Position | undefined,
  { horizon, latest }: { readonly horizon: Position; readonly latest: Position },
): Resumption {
  if (after === undefined) return 'fresh';
  if (after < 0n || after < horizon) return 'too-old';
  if (after === latest) return 'caught-up';
  return after < latest ? 'missed' : 'ahead';
}
