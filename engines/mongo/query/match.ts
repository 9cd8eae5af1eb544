/** Compiles a filter into a predicate on raw documents. */
import { compareValues } from '../bson/compare.js';
import { Kind, keyOf, kindOf } from '../bson/key.js';
import { doubleOf } from '../bson/number.js';
import { Type, type Value } from '../bson/value.js';
import type { Comparison, Condition, Filter, Operands } from './filter.js';
import { anyAt, type Test } from './path.js';

/** Reports whether a document (its raw bytes as a value) meets a filter. */
export type Predicate = (document: Value) => boolean;

export function compile(filter: Filter): Predicate {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const parts = filter.filters.map(compile);
      if (filter.kind === 'and') return (document) => parts.every((part) => part(document));
      return (document) => parts.some((part) => part(document));
    }
    case 'not': {
      const part = compile(filter.filter);
      return (document) => !part(document);
    }
    default: {
      const test = testOf(filter);
      const spread = filter.kind !== 'exists';
      return (document) => anyAt(document, filter.path, spread, test);
    }
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

function inTest({ points, hasNull }: Operands): Test {
  return (value) => {
    if (value === undefined) return hasNull;
    return points.has(keyOf(value));
  };
}

const isNotANumber = (value: Value): boolean => value.type === Type.double && Number.isNaN(doubleOf(value));

function comparisonTest(kind: Comparison, operand: Value): Test {
  const inclusive = kind === 'eq' || kind === 'gte' || kind === 'lte';
  const operandKind = kindOf(operand);
  if (operandKind === Kind.null) return (value) => inclusive && (!value || value.type === Type.null);
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
