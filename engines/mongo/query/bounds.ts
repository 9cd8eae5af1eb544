/** Derives key ranges from a filter's conditions on single paths. */
import { compareValues } from '../bson/compare.js';
import { Kind, keyOf, kindOf } from '../bson/key.js';
import { Type, type Value } from '../bson/value.js';
import { type Condition, type Filter, UNDEFINED } from './filter.js';
import { createKeySet, type KeySet, singleKeySet } from './key-set.js';

/** Conditions that every match meets, by path; those under or, nor and not are left out. */
export type Requirements = ReadonlyMap<string, readonly Condition[]>;

export function requirementsOf(filter: Filter, result = new Map<string, Condition[]>()): Map<string, Condition[]> {
  if (filter.kind === 'and') for (const part of filter.filters) requirementsOf(part, result);
  else if (filter.kind !== 'or' && filter.kind !== 'nor' && filter.kind !== 'not') {
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
  points: value.type === Type.null ? createKeySet([value, UNDEFINED]) : singleKeySet(value),
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

/** True if every document that meets the requirements also meets a partial index's filter. */
export function implies(requirements: Requirements, partial: Filter): boolean {
  if (partial.kind === 'and') return partial.filters.every((part) => implies(requirements, part));
  if (partial.kind === 'or' || partial.kind === 'nor' || partial.kind === 'not') return false;
  return (requirements.get(partial.path.text) ?? []).some((condition) => impliesCondition(condition, partial));
}

function impliesCondition(condition: Condition, required: Condition): boolean {
  if (required.kind === 'exists') return excludesMissing(condition);
  if (!('operand' in required)) return false;
  if (condition.kind === 'in') return every(condition.operands, (value) => meets(value, required));
  if (condition.kind === 'eq') return meets(condition.operand, required);
  if (!('operand' in condition) || required.kind === 'eq') return false;
  if (kindOf(condition.operand) !== kindOf(required.operand) || condition.operand.type === Type.array) return false;
  if (condition.kind.slice(0, 2) !== required.kind.slice(0, 2)) return false;
  const order = compareValues(condition.operand, required.operand);
  if (order === 0) return condition.kind === required.kind || required.kind.length === 3;
  return required.kind.startsWith('g') ? order > 0 : order < 0;
}

function every(values: Iterable<Value>, test: (value: Value) => boolean): boolean {
  for (const value of values) if (!test(value)) return false;
  return true;
}

/** True if a value equal to `value` meets the comparison. Arrays and nulls never count. */
function meets(value: Value, required: Condition): boolean {
  if (!('operand' in required) || value.type === Type.array || value.type === Type.null) return false;
  if (kindOf(value) !== kindOf(required.operand)) return false;
  const order = compareValues(value, required.operand);
  if (order === 0) return required.kind !== 'gt' && required.kind !== 'lt';
  return required.kind.startsWith('g') ? order > 0 : required.kind.startsWith('l') ? order < 0 : false;
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
