/** Query parameters that filter records, shared by lists, counts and the live tail. */
import type { Filter } from '../../../domain/logs/filter.js';
import { parseQueryTime } from '../../../domain/logs/timestamp.js';
import { tokenize } from '../../../domain/logs/tokenizer.js';
import type { DataOf } from '../../../domain/shared/index.js';
import { isProblem, type Problem, problem } from '../server/policy.js';

const text = (description: string) => ({ type: 'string', maxLength: 1000, description }) as const;
const texts = (description: string) =>
  ({
    type: ['string', 'array'],
    maxLength: 1000,
    items: { type: 'string', maxLength: 1000 },
    maxItems: 20,
    description,
  }) as const;

export const filterProperties = {
  from: text('Start, inclusive: ISO 8601, a date, or Unix ms'),
  to: text('End, inclusive; a date includes the whole day'),
  level: texts('One or more levels, comma-separated or repeated'),
  event: text('Exact event name'),
  producer: text('Producer id'),
  correlation: text('correlationId, else requestId, else traceId'),
  field: texts('Dotted path into the record, paired with `value`; may be repeated'),
  value: texts('Exact value of the field, as text'),
  q: text('Words that must all occur in the texts of the record'),
  notLevel: texts('Levels to leave out, comma-separated or repeated'),
  notEvent: texts('Event name to leave out; may be repeated'),
  notProducer: texts('Producer id to leave out; may be repeated'),
  notField: texts('Dotted path, paired with `notValue`: records with that value are left out; may be repeated'),
  notValue: texts('Exact value of the field to leave out, as text'),
  audit: { type: 'boolean', description: 'Only audit records (true), or only others (false)' },
} as const;

export type FilterQuery = DataOf<{ readonly type: 'object'; readonly properties: typeof filterProperties }>;

export function filterOf(query: FilterQuery): Filter | Problem {
  const { event, producer: producerId, correlation: correlationId, audit } = query;
  const from = query.from === undefined ? undefined : parseQueryTime(query.from, false);
  const to = query.to === undefined ? undefined : parseQueryTime(query.to, true);
  if (query.from !== undefined && from === undefined) return invalidTime('from');
  if (query.to !== undefined && to === undefined) return invalidTime('to');
  const fields = pairsOf(query, 'field', 'value');
  if (isProblem(fields)) return fields;
  const notFields = pairsOf(query, 'notField', 'notValue');
  if (isProblem(notFields)) return notFields;
  const levels = levelsOf(query.level);
  const not = {
    levels: levelsOf(query.notLevel),
    events: listOf(query.notEvent),
    producerIds: listOf(query.notProducer),
    fields: notFields,
  };
  const words = [...new Set(tokenize(query.q ?? ''))];
  if (words.length > 50) return problem(400, 'q must not have more than 50 words');
  return {
    from,
    to,
    levels: levels.length > 0 ? levels : undefined,
    event,
    producerId,
    correlationId,
    audit,
    fields,
    words,
    ...(Object.values(not).some((each) => each.length > 0) && { not }),
  };
}

const invalidTime = (name: string) => problem(400, `${name} must be a time: ISO 8601, a date, or Unix milliseconds`);

const levelsOf = (value: string | readonly string[] | undefined) =>
  listOf(value)
    .flatMap((each) => each.split(','))
    .map((each) => each.trim().toUpperCase())
    .filter((each) => each !== '');

function pairsOf(query: FilterQuery, name: 'field' | 'notField', valueName: 'value' | 'notValue') {
  const [paths, values] = [listOf(query[name]), listOf(query[valueName])];
  if (paths.length !== values.length) return problem(400, `${name} and ${valueName} must come in pairs`);
  if (paths.includes('')) return problem(400, `${name} must not be empty`);
  return paths.map((path, index) => ({ path, value: values[index]! }));
}

const listOf = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value;
