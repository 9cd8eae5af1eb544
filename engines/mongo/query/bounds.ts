/** What a filter says about single paths, and the ranges of keys that follow from it. */
import { compareValues } from '../bson/compare.js';
import { Kind, keyOf, kindOf } from '../bson/key.js';
import { Type, type Value } from '../bson/value.js';
import { type Condition, type Filter, UNDEFINED } from './filter.js';
import { type Points, pointOf, pointsOf } from './key-set.js';

/** The conditions that every match meets, by path; what stands under or, nor and not is left out. */
export type Requirements = ReadonlyMap<string, readonly Condition[]>;

export function requirementsOf(filter: Filter, into = new Map<string, Condition[]>()): Map<string, Condition[]> {
  if (filter.kind === 'and') for (const part of filter.filters) requirementsOf(part, into);
  else if (filter.kind !== 'or' && filter.kind !== 'nor' && filter.kind !== 'not') {
    const { text } = filter.path;
    const there = into.get(text);
    if (there) there.push(filter);
    else into.set(text, [filter]);
  }
  return into;
}

/** A span of one field's keys, before direction; `high` is exclusive unless `through`, which takes in all below it. */
export interface Span {
  readonly low: Buffer;
  readonly high: Buffer;
  /** Whether keys that begin with `low` are left out, and those that begin with `high` are taken in. */
  readonly above: boolean;
  readonly through: boolean;
}

/** The points or the span of one field that hold every match; never fewer, sometimes more. */
export type Bounds = { readonly points: Points } | { readonly span: Span };

/**
 * The tightest bounds that one path's conditions give. On a field that holds arrays only one condition may be
 * used, since different elements may meet different ones.
 */
export function boundsOf(conditions: readonly Condition[], multikey: boolean): Bounds | undefined {
  const usable = conditions.filter(isUsable);
  const equal = usable.find((condition) => condition.kind === 'eq');
  if (equal?.kind === 'eq') return equalTo(equal.operand);
  const among = usable.find((condition) => condition.kind === 'in');
  if (among?.kind === 'in') return { points: among.operands.points };
  const ranges = usable.filter((condition) => condition.kind !== 'exists');
  return spanOf(multikey ? ranges.slice(0, 1) : ranges);
}

const isPoint = (value: Value): boolean => value.type !== Type.array;

function isUsable(condition: Condition): boolean {
  switch (condition.kind) {
    case 'eq':
      return isPoint(condition.operand);
    case 'in':
      return !condition.operands.hasArray;
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return isPoint(condition.operand);
    default:
      return false;
  }
}

const equalTo = (value: Value): Bounds => ({
  points: value.type === Type.null ? pointsOf([value, UNDEFINED]) : pointOf(value),
});

function spanOf(ranges: readonly Condition[]): Bounds | undefined {
  let low: { key: Buffer; above: boolean } | undefined;
  let high: { key: Buffer; through: boolean } | undefined;
  let kind = 0;
  for (const range of ranges) {
    if (range.kind !== 'gt' && range.kind !== 'gte' && range.kind !== 'lt' && range.kind !== 'lte') continue;
    if (range.operand.type === Type.null) return equalTo(range.operand);
    kind = kindOf(range.operand);
    const key = keyOf(range.operand);
    if (range.kind === 'gt' || range.kind === 'gte') low = { key, above: range.kind === 'gt' };
    else high = { key, through: range.kind === 'lte' };
  }
  if (!low && !high) return undefined;
  low ??= { key: Buffer.of(kind), above: false };
  high ??= { key: Buffer.of(kind + 1), through: false };
  return { span: { low: low.key, high: high.key, above: low.above, through: high.through } };
}

/** Whether every document that meets the requirements also meets a partial index's filter. */
export function implies(requirements: Requirements, partial: Filter): boolean {
  if (partial.kind === 'and') return partial.filters.every((part) => implies(requirements, part));
  if (partial.kind === 'or' || partial.kind === 'nor' || partial.kind === 'not') return false;
  return (requirements.get(partial.path.text) ?? []).some((given) => impliesCondition(given, partial));
}

function impliesCondition(given: Condition, wanted: Condition): boolean {
  if (wanted.kind === 'exists') return rulesOutMissing(given);
  if (!('operand' in wanted)) return false;
  if (given.kind === 'in') return every(given.operands, (value) => meets(value, wanted));
  if (given.kind === 'eq') return meets(given.operand, wanted);
  if (!('operand' in given) || wanted.kind === 'eq') return false;
  if (kindOf(given.operand) !== kindOf(wanted.operand) || given.operand.type === Type.array) return false;
  if (given.kind.slice(0, 2) !== wanted.kind.slice(0, 2)) return false;
  const order = compareValues(given.operand, wanted.operand);
  if (order === 0) return given.kind === wanted.kind || wanted.kind.length === 3;
  return wanted.kind.startsWith('g') ? order > 0 : order < 0;
}

function every(values: Iterable<Value>, test: (value: Value) => boolean): boolean {
  for (const value of values) if (!test(value)) return false;
  return true;
}

/** Whether a value that equals `value` meets a comparison; arrays and nulls are not relied upon. */
function meets(value: Value, wanted: Condition): boolean {
  if (!('operand' in wanted) || value.type === Type.array || value.type === Type.null) return false;
  if (kindOf(value) !== kindOf(wanted.operand)) return false;
  const order = compareValues(value, wanted.operand);
  if (order === 0) return wanted.kind !== 'gt' && wanted.kind !== 'lt';
  return wanted.kind.startsWith('g') ? order > 0 : wanted.kind.startsWith('l') ? order < 0 : false;
}

/** Whether a condition can hold only where the field is there. */
export function rulesOutMissing(condition: Condition): boolean {
  switch (condition.kind) {
    case 'exists':
      return true;
    case 'in':
      return !condition.operands.hasNull;
    default:
      return kindOf(condition.operand) !== Kind.null;
  }
}
