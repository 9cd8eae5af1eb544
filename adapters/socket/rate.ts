/** How often one client may say something. */
import type { Clock } from '../../application/ports.js';

/**
 * Counts in whole seconds. `first`: too many in this second. `again`: and so it was in the second before, or it is
 * twice too many.
 */
export function createRate(perSecond: number, clock: Clock): () => false | 'first' | 'again' {
  let [since, count, before] = [clock.now(), 0, 0];
  return () => {
    const seconds = Math.floor((clock.now() - since) / 1000);
    if (seconds > 0) [since, before, count] = [since + seconds * 1000, seconds === 1 ? count : 0, 0];
    count++;
    if (count <= perSecond) return false;
    return before > perSecond || count > 2 * perSecond ? 'again' : 'first';
  };
}
