/** Compiles a filter into a predicate over raw documents. */
import { compareValues } from '../bson/compare.js';
import { Kind, keyOf, kindOf } from '../bson/key.js';
import { decimalOf, doubleOf } from '../bson/number.js';
import { elementsOf, Type, textOf, type Value } from '../bson/value.js';
import type { Comparison, Condition, Filter } from './filter.js';
import { anyAt, type Test } from './path.js';

/** Whether a document (its raw bytes as a value) meets a filter. */
export type Predicate = (document: Value) => boolean;

export const compile = (filter: Filter): Predicate =>
  compose(filter, (condition) => {
    const test = testOf(condition);
    const spread = condition.kind !== 'exists' && condition.kind !== 'elemMatch';
    return (document) => anyAt(document, condition.path, spread, test);
  });

/** Joins what the leaves say by the tree's and, or, nor and not. */
function compose<Subject>(
  filter: Filter,
  leaf: (condition: Condition) => (subject: Subject) => boolean,
): (subject: Subject) => boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
    case 'nor': {
      const parts = filter.filters.map((part) => compose(part, leaf));
      if (filter.kind === 'and') return (subject) => parts.every((part) => part(subject));
      if (filter.kind === 'or') return (subject) => parts.some((part) => part(subject));
      return (subject) => !parts.some((part) => part(subject));
    }
    case 'not': {
      const part = compose(filter.filter, leaf);
      return (subject) => !part(subject);
    }
    default:
      return leaf(filter);
  }
}

function testOf(condition: Condition): Test {
  switch (condition.kind) {
    case 'exists':
      return (value) => value !== undefined;
    case 'regex':
      return patternTest(condition.pattern, condition.source);
    case 'in':
      return inTest(condition.operands, condition.patterns);
    case 'elemMatch': {
      const matches = elementTest(condition.whole, condition.filter);
      return (value) => value?.type === Type.array && elementsOf(value).some(matches);
    }
    default:
      return comparisonTest(condition.kind, condition.operand);
  }
}

/** What each element must meet: a filter of its own fields, or conditions on the element itself. */
export function elementTest(whole: boolean, filter: Filter): (element: Value) => boolean {
  if (!whole) return compose<Value>(filter, testOf);
  const predicate = compile(filter);
  return (element) => element.type === Type.object && predicate(element);
}

function patternTest(pattern: RegExp, source: Value): Test {
  return (value) => {
    if (!value) return false;
    if (value.type === Type.string || value.type === Type.symbol) return pattern.test(textOf(value));
    return value.type === Type.regex && source.type === Type.regex && compareValues(value, source) === 0;
  };
}

function inTest(operands: readonly Value[], patterns: readonly RegExp[]): Test {
  const keys = new Set(operands.map((operand) => keyOf(operand).toString('latin1')));
  const missing = operands.some((operand) => operand.type === Type.null);
  return (value) => {
    if (value === undefined || value.type === Type.undefined) return missing;
    if (keys.has(keyOf(value).toString('latin1'))) return true;
    return value.type === Type.string && patterns.some((pattern) => pattern.test(textOf(value)));
  };
}

const isNotANumber = (value: Value): boolean =>
  value.type === Type.double
    ? Number.isNaN(doubleOf(value))
    : value.type === Type.decimal && decimalOf(value) === 'nan';

function comparisonTest(kind: Comparison, operand: Value): Test {
  const inclusive = kind === 'eq' || kind === 'gte' || kind === 'lte';
  const wanted = kindOf(operand);
  if (wanted === Kind.null)
    return (value) => inclusive && (!value || value.type === Type.null || value.type === Type.undefined);
  const holds = orderTest(kind);
  // MinKey and MaxKey compare with values of every kind, all others only within their own.
  if (wanted === Kind.minKey || wanted === Kind.maxKey)
    return (value) => value !== undefined && holds(compareValues(value, operand));
  if (isNotANumber(operand)) return (value) => inclusive && value !== undefined && isNotANumber(value);
  const ordered = kind !== 'eq';
  return (value) => {
    if (!value || kindOf(value) !== wanted) return false;
    if (ordered && isNotANumber(value)) return false;
    return holds(compareValues(value, operand));
  };
}

function orderTest(kind: Comparison): (order: number) => boolean {
  switch (kind) {
    case 'eq':
      return (order) => order === 0;
    case 'gt':
      return (order) => order > 0;
    case 'gte':
      return (order) => order >= 0;
    case 'lt':
      return (order) => order < 0;
    case 'lte':
      return (order) => order <= 0;
  }
}
