/** Derives key ranges from a filter's conditions on single paths. */
import { Kind, keyOf, kindOf } from '../bson/key.js';
import { Type, type Value } from '../bson/value.js';
import { type Condition, type Filter, UNDEFINED } from './filter.js';
import { createKeySet, type KeySet } from './key-set.js';

/** Conditions that every match meets, by path; those under or and not are left out. */
export type Requirements = ReadonlyMap<string, readonly Condition[]>;

export function requirementsOf(filter: Filter, result = new Map<string, Condition[]>()): Map<string, Condition[]> {
  if (filter.kind === 'and') for (const part of filter.filters) requirementsOf(part, result);
  else if (filter.kind !== 'or' && filter.kind !== 'not') {
    const { text } = filter.path;
    const existing = result.get(text);
    if (existing) existing.push(filter);
    else result.set(text, [filter]);
  }
  return result;
}

/** Range of one field's keys, before its direction is applied. `high` is exclusive unless `highInclusive`. */
export interface Span {
  readonly low: Buffer;
  readonly high: Buffer;
  /** Excludes keys that start with `low`; `highInclusive` includes keys that start with `high`. */
  readonly lowExclusive: boolean;
  readonly highInclusive: boolean;
}

/** Points or span of one field that contain every match, and possibly more. */
export type Bounds = { readonly points: KeySet } | { readonly span: Span };

/**
 * Tightest bounds from the conditions on one path. On a multikey field only one condition is usable, because different
 * array elements may meet different ones.
 */
export function boundsOf(conditions: readonly Condition[], multikey: boolean): Bounds | undefined {
  const usable = conditions.filter(isUsable);
  const equality = usable.find((condition) => condition.kind === 'eq');
  if (equality?.kind === 'eq') return equalTo(equality.operand);
  const membership = usable.find((condition) => condition.kind === 'in');
  if (membership?.kind === 'in') return { points: membership.operands.points };
  const ranges = usable.filter((condition) => condition.kind !== 'exists');
  return spanOf(multikey ? ranges.slice(0, 1) : ranges);
}

const isScalar = (value: Value): boolean => value.type !== Type.array;

function isUsable(condition: Condition): boolean {
  switch (condition.kind) {
    case 'eq':
      return isScalar(condition.operand);
    case 'in':
      return !condition.operands.hasArray;
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return isScalar(condition.operand);
    default:
      return false;
  }
}

const equalTo = (value: Value): Bounds => ({
  points: createKeySet(value.type === Type.null ? [value, UNDEFINED] : [value]),
});

function spanOf(ranges: readonly Condition[]): Bounds | undefined {
  let low: { key: Buffer; lowExclusive: boolean } | undefined;
  let high: { key: Buffer; highInclusive: boolean } | undefined;
  let kind = 0;
  for (const range of ranges) {
    if (range.kind !== 'gt' && range.kind !== 'gte' && range.kind !== 'lt' && range.kind !== 'lte') continue;
    if (range.operand.type === Type.null) return equalTo(range.operand);
    kind = kindOf(range.operand);
    const key = keyOf(range.operand);
    if (range.kind === 'gt' || range.kind === 'gte') low = { key, lowExclusive: range.kind === 'gt' };
    else high = { key, highInclusive: range.kind === 'lte' };
  }
  if (!low && !high) return undefined;
  low ??= { key: Buffer.of(kind), lowExclusive: false };
  high ??= { key: Buffer.of(kind + 1), highInclusive: false };
  return { span: { low: low.key, high: high.key, lowExclusive: low.lowExclusive, highInclusive: high.highInclusive } };
}

/** True if a condition can hold only where the field exists. */
export function excludesMissing(condition: Condition): boolean {
  switch (condition.kind) {
    case 'exists':
      return true;
    case 'in':
      return !condition.operands.hasNull;
    default:
      return kindOf(condition.operand) !== Kind.null;
  }
}
