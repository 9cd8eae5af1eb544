/** Generates hits of two sites on two days, and ways in which their events are delivered. */
import fc from 'fast-check';
import type { Hit } from '../../domain/analytics/catalog.js';

const hit: fc.Arbitrary<Hit> = fc.oneof(
  fc.record({ path: fc.constantFrom('/a', '/b', '/c') }),
  fc.record({ path: fc.constant('/'), event: fc.constantFrom('buy', 'leave') }),
);
export const happened = fc.array(
  fc.record({
    site: fc.constantFrom('one', 'two'),
    day: fc.constantFrom(0, 1),
    hits: fc.array(hit, { minLength: 1, maxLength: 4 }),
    visitors: fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 30 },
);
/** Goes back by so many events, as who starts from a checkpoint, and takes so many from there; anew or not. */
export const deliveries = fc.array(
  fc.record({ back: fc.nat(10), take: fc.integer({ min: 1, max: 12 }), anew: fc.boolean() }),
  { maxLength: 12 },
);
