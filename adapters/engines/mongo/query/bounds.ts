/** What a filter says about single paths, and the ranges of keys that follow from it. */

import { compareValues } from '../bson/compare.js';
import { Kind, keyOf, kindOf } from '../bson/key.js';
import { NULL } from '../bson/make.js';
import { Type, type Value } from '../bson/value.js';
import type { Condition, Filter } from './filter.js';

/** The conditions that every match meets, by path; what stands under or, nor and not is left out. */
export type Requirements = ReadonlyMap<string, readonly Condition[]>;

export function requirementsOf(
  filter: Filter,
  into = new Map<string, Condition[]>(),
): Map<string, Condition[]> {
  if (filter.kind === 'and') for (const part of filter.filters) requirementsOf(part, into);
  else if (filter.kind !== 'or' && filter.kind !== 'nor' && filter.kind !== 'not') {
    const { text } = filter.path;
    into.set(text, [...(into.get(text) ?? []), filter]);
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
export type Bounds =
  | { readonly points: readonly Buffer[]; readonly nullable: boolean }
  | { readonly span: Span; readonly nullable: boolean };

/**
 * The tightest bounds that one path's conditions give. On a field that holds arrays only one condition may be
 * used, since different elements may meet different ones.
 */
export function boundsOf(conditions: readonly Condition[], multikey: boolean): Bounds | undefined {
  const usable = conditions.filter(isUsable);
  const equal = usable.find((condition) => condition.kind === 'eq');
  if (equal?.kind === 'eq') return pointsOf([equal.operand]);
  const among = usable.find((condition) => condition.kind === 'in');
  if (among?.kind === 'in') return pointsOf(among.operands);
  const ranges = usable.filter((condition) => condition.kind !== 'exists');
  return spanOf(multikey ? ranges.slice(0, 1) : ranges);
}

const isPoint = (value: Value): boolean => value.type !== Type.array;

function isUsable(condition: Condition): boolean {
  switch (condition.kind) {
    case 'eq':
      return isPoint(condition.operand);
    case 'in':
      return condition.operands.every(isPoint);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return isPoint(condition.operand);
    default:
      return false;
  }
}

function pointsOf(values: readonly Value[]): Bounds {
  const keys = new Map<string, Buffer>();
  const nullable = values.some((value) => value.type === Type.null);
  for (const value of nullable ? [...values, UNDEFINED] : values) {
    const key = keyOf(value);
    keys.set(key.toString('latin1'), key);
  }
  return { points: [...keys.values()].sort(Buffer.compare), nullable };
}

/** Matched by null as well. */
const UNDEFINED: Value = { ...NULL, type: Type.undefined };

function spanOf(ranges: readonly Condition[]): Bounds | undefined {
  let low: { key: Buffer; above: boolean } | undefined;
  let high: { key: Buffer; through: boolean } | undefined;
  let kind = 0;
  for (const range of ranges) {
    if (range.kind !== 'gt' && range.kind !== 'gte' && range.kind !== 'lt' && range.kind !== 'lte') continue;
    if (range.operand.type === Type.null) return pointsOf([range.operand]);
    kind = kindOf(range.operand);
    const key = keyOf(range.operand);
    if (range.kind === 'gt' || range.kind === 'gte') low = { key, above: range.kind === 'gt' };
    else high = { key, through: range.kind === 'lte' };
  }
  if (!low && !high) return undefined;
  low ??= { key: Buffer.of(kind), above: false };
  high ??= { key: Buffer.of(kind + 1), through: false };
  return { span: { low: low.key, high: high.key, above: low.above, through: high.through }, nullable: false };
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
  if (given.kind === 'in') return given.operands.every((value) => meets(value, wanted));
  if (given.kind === 'eq') return meets(given.operand, wanted);
  if (!('operand' in given) || wanted.kind === 'eq') return false;
  if (kindOf(given.operand) !== kindOf(wanted.operand) || given.operand.type === Type.array) return false;
  if (given.kind.slice(0, 2) !== wanted.kind.slice(0, 2)) return false;
  const order = compareValues(given.operand, wanted.operand);
  if (order === 0) return given.kind === wanted.kind || wanted.kind.length === 3;
  return wanted.kind.startsWith('g') ? order > 0 : order < 0;
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
      return condition.operands.every((value) => value.type !== Type.null);
    default:
      return kindOf(condition.operand) !== Kind.null;
  }
}
