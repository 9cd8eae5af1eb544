/** Generators of records and filters that are likely to match. */
import fc from 'fast-check';
import type { Filter } from '../../../domain/logs/filter.js';
import { correlationTerm, eventTerm, messageTerms, root, termsAt } from '../../../domain/logs/index-terms.js';
import type { Json, JsonObject } from '../../../domain/logs/json.js';
import type { LogRecord } from '../../../domain/logs/record.js';

const NAMES = ['a', 'b', 'a.b', 'tags', '0', 'http', 'status', 'user id', 'ключ'];
const TEXTS = ['ok', 'OK', '200', 'disk full', 'Disk-Full now', 'user_1 left', 'Привет, мир', 'a"b\\c\n', '日本語', ''];

const name = fc.constantFrom(...NAMES);
const scalar = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.string({ maxLength: 8 }),
  fc.constantFrom(0, 1, 200, -1.5, 1e21, true, false, null),
);

const { tree } = fc.letrec<{ tree: Json; object: JsonObject }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('tree'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(name, tie('tree'), { maxKeys: 3 }),
}));

const DAY = 86_400_000;
export const NOON = Date.UTC(2026, 10, 21, 12);

/** Instants within three days, many of them equal. */
export const instant = fc.oneof(
  fc.integer({ min: NOON - 36 * 3_600_000, max: NOON + 36 * 3_600_000 }),
  fc.constantFrom(NOON, NOON - DAY, NOON - (NOON % DAY) - 1, NOON - (NOON % DAY)),
);

const LEVELS = ['info', 'INFO', 'error', 'Warn', 30, 50];
const IDS = ['c1', 'c2', 'c3', 'c4'];

export const record: fc.Arbitrary<JsonObject> = fc
  .tuple(
    fc.record(
      {
        timestamp: fc.oneof(
          instant,
          instant.map((at) => new Date(at).toISOString()),
          fc.constantFrom<Json>('never', null),
        ),
        level: fc.constantFrom<Json>(...LEVELS),
        event: fc.constantFrom<Json>('started', 'stopped', 7, null),
        message: fc.oneof(fc.constantFrom<Json>(...TEXTS), tree),
        correlationId: fc.constantFrom(...IDS),
        requestId: fc.constantFrom(...IDS),
        audit: fc.constantFrom<Json>(true, true, false, 'true'),
      },
      { requiredKeys: [] },
    ),
    fc.dictionary(name, tree, { maxKeys: 4 }),
  )
  .map(([known, other]) => ({ ...other, ...known }) as JsonObject);

const field = fc.record({
  path: fc.oneof(
    { weight: 5, arbitrary: fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('.')) },
    fc.constantFrom('event', 'correlationId', 'level'),
  ),
  value: fc.oneof(scalar.map(String), fc.constantFrom(...TEXTS, ...IDS, 'started')),
});

export const filter: fc.Arbitrary<Filter> = fc
  .record({
    from: instant,
    to: instant,
    levels: fc.uniqueArray(fc.constantFrom('INFO', 'ERROR', 'WARN', 'FATAL'), { minLength: 1 }),
    event: fc.constantFrom('started', 'stopped', '7', 'disk full'),
    producerId: fc.constantFrom('api', 'web'),
    correlationId: fc.constantFrom(...IDS),
    audit: fc.boolean(),
    fields: fc.array(field, { maxLength: 2 }),
    words: fc.array(fc.constantFrom('ok', 'disk', 'full', 'user_1', 'мир', '200'), { maxLength: 2 }),
    not: fc.record({
      levels: fc.subarray(['INFO', 'ERROR', 'STRANGE']),
      events: fc.subarray(['started', '7', 'disk full']),
      producerIds: fc.subarray(['api']),
      fields: fc.array(field, { maxLength: 2 }),
    }),
  })
  .chain((all) =>
    fc
      .subarray(Object.keys(all) as (keyof typeof all)[], { maxLength: 3 })
      .map((keys) => Object.assign({ fields: [], words: [] }, ...keys.map((key) => ({ [key]: all[key] })))),
  );

/** Calls `onTerm` with every index term of a record. */
export function termsOf(record: LogRecord, onTerm: (term: number) => void): void {
  if (record.event !== undefined) onTerm(eventTerm(record.event));
  if (record.correlationId !== undefined) onTerm(correlationTerm(record.correlationId));
  messageTerms(record, onTerm);
  termsAt(root, record.data, onTerm);
}
