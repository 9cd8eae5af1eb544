/** What records may be counted by, and what a look at every one of them says: the truth that counts are held against. */
import fc from 'fast-check';
import { type Grouping, MISSING } from '../../application/logs/query/aggregate.js';
import { leavesAt } from '../../domain/logs/filter.js';
import type { IdentifiedRecord } from '../../domain/logs/record.js';
import { HOUR_MS } from '../../domain/logs/timestamp.js';

export const grouping: fc.Arbitrary<Grouping> = fc.oneof(
  fc.constantFrom<Grouping>({ by: 'level' }, { by: 'event' }, { by: 'correlation' }),
  fc.constantFrom('http.status', 'tags', 'a', 'a.b', 'message').map((path): Grouping => ({ by: 'field', path })),
  fc
    .constantFrom(60_000, HOUR_MS, 2 * HOUR_MS, 24 * HOUR_MS)
    .map((intervalMs): Grouping => ({ by: 'time', intervalMs })),
);

/** What a record counts under. */
export function keysOf(grouping: Grouping, each: IdentifiedRecord): string[] {
  if (grouping.by === 'field') {
    const values = new Set(leavesAt(each.data, grouping.path).map(String));
    return values.size > 0 ? [...values] : [MISSING];
  }
  if (grouping.by === 'time')
    return [new Date(Math.floor(each.instant / grouping.intervalMs) * grouping.intervalMs).toISOString()];
  if (grouping.by === 'level') return [each.level];
  return [(grouping.by === 'event' ? each.event : each.correlationId) ?? MISSING];
}
