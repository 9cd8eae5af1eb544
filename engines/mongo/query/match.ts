/** Compiles a filter into a predicate on raw documents. */
import { compareValues } from '../bson/compare.js';
import { Kind, keyOf, kindOf } from '../bson/key.js';
import { decimalOf, doubleOf } from '../bson/number.js';
import { Type, type Value } from '../bson/value.js';
import type { Comparison, Condition, Filter, Operands } from './filter.js';
import { anyAt, type Test } from './path.js';

/** Reports whether a document (its raw bytes as a value) meets a filter. */
export type Predicate = (document: Value) => boolean;

export const compile = (filter: Filter): Predicate =>
  compose(filter, (condition) => {
    const test = testOf(condition);
    const spread = condition.kind !== 'exists';
    return (document) => anyAt(document, condition.path, spread, test);
  });

/** Combines the predicates of the leaves by and, or, nor and not. */
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
    case 'in':
      return inTest(condition.operands);
    default:
      return comparisonTest(condition.kind, condition.operand);
  }
}

/** Compiles conditions on an element itself; their paths are ignored. */
export const elementTest = (filter: Filter): ((element: Value) => boolean) => compose<Value>(filter, testOf);

function inTest({ points, hasNull }: Operands): Test {
  return (value) => {
    if (value === undefined || value.type === Type.undefined) return hasNull;
    return points.has(keyOf(value));
  };
}

const isNotANumber = (value: Value): boolean =>
  value.type === Type.double
    ? Number.isNaN(doubleOf(value))
    : value.type === Type.decimal && decimalOf(value) === 'nan';

function comparisonTest(kind: Comparison, operand: Value): Test {
  const inclusive = kind === 'eq' || kind === 'gte' || kind === 'lte';
  const operandKind = kindOf(operand);
  if (operandKind === Kind.null)
    return (value) => inclusive && (!value || value.type === Type.null || value.type === Type.undefined);
  const holds = orderTest(kind);
  if (isNotANumber(operand)) return (value) => inclusive && value !== undefined && isNotANumber(value);
  const ordered = kind !== 'eq';
  return (value) => {
    if (!value || kindOf(value) !== operandKind) return false;
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
