/** Where a stream begins, by the cursor its client comes with (docs/guide/relay.md). */
import type { Position } from '../../../application/ports/index.js';

/**
 * `fresh`: without a cursor, it is told what comes. `caught-up`: it has seen all that was told. `missed`: what it
 * missed is still here. `too-old`: it is not, or nobody ever gave that cursor. `ahead`: it has seen more than was
 * told here, on a node that is further; or the log was set back.
 */
export type Resumption = 'fresh' | 'caught-up' | 'missed' | 'too-old' | 'ahead';

/** `horizon`: everything after it is here; `latest`: of the last event told. A negative cursor was never given. */
export function resumption(
  after: Position | undefined,
  { horizon, latest }: { readonly horizon: Position; readonly latest: Position },
): Resumption {
  if (after === undefined) return 'fresh';
  if (after < 0n || after < horizon) return 'too-old';
  if (after === latest) return 'caught-up';
  return after < latest ? 'missed' : 'ahead';
}
