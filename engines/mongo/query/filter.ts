/** Parses a filter document into a tree of conditions; refuses everything outside the supported subset. */
import { NULL } from '../bson/encode.js';
import { isNumeric, toNumber } from '../bson/number.js';
import { eachElement, elementsOf, type Field, fieldsOf, isArray, isObject, Type, type Value } from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { createKeySet, type KeySet } from './key-set.js';
import { type Path, plainPath } from './path.js';

export type Comparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte';

/** A condition on the values at one path. */
export type Condition =
  | { readonly kind: Comparison; readonly path: Path; readonly operand: Value }
  | { readonly kind: 'in'; readonly path: Path; readonly operands: Operands }
  | { readonly kind: 'exists'; readonly path: Path };

/** Operands of an `$in`. */
export interface Operands extends Iterable<Value> {
  readonly length: number;
  readonly hasNull: boolean;
  readonly hasArray: boolean;
  /** Keys of the operands; null also adds the key of a missing field. Created on first use. */
  readonly points: KeySet;
}

export type Filter =
  | { readonly kind: 'and'; readonly filters: readonly Filter[] }
  | { readonly kind: 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | Condition;

/** Matched by null, too. */
export const UNDEFINED: Value = { ...NULL, type: Type.undefined };

const badValue = (message: string): CommandError => new CommandError(2, message);

/** Parses a filter document. Errors: 2 for unknown operators and invalid operands. */
export function parseFilter(document: Value): Filter {
  const filters = fieldsOf(document).map(parseClause);
  return filters.length === 1 ? filters[0]! : { kind: 'and', filters };
}

function parseClause(field: Field): Filter {
  if (field.name === '$and' || field.name === '$or')
    return { kind: field.name === '$and' ? 'and' : 'or', filters: parseList(field) };
  if (field.name.startsWith('$')) throw notImplemented(2, `the top level operator ${field.name}`);
  return parseField(filterPath(field.name), field);
}

/** Limits path depth, because upserts create documents from the paths of the filter. */
const MAX_PARTS = 80;

/** Errors: 2 for a position in a path. */
function filterPath(name: string): Path {
  const path = plainPath(name, 'a filter');
  if (path.parts.length > MAX_PARTS) throw notImplemented(15, `paths of more than ${MAX_PARTS} parts`);
  return path;
}

function parseList(field: Field): Filter[] {
  if (!isArray(field)) throw badValue(`${field.name} must be an array`);
  const entries = elementsOf(field);
  if (entries.length === 0) throw badValue(`${field.name} must be a nonempty array`);
  return entries.map((entry) => {
    if (!isObject(entry)) throw badValue(`${field.name} entries need to be full objects`);
    return parseFilter(entry);
  });
}

function parseField(path: Path, value: Value): Filter {
  if (!hasOperators(value)) return comparison('eq', path, value);
  const filters = fieldsOf(value).map((operator) => parseOperator(path, operator));
  return filters.length === 1 ? filters[0]! : { kind: 'and', filters };
}

/** Whether a value is an object of operators, as opposed to a literal one. */
export function hasOperators(value: Value): boolean {
  return isObject(value) && (fieldsOf(value)[0]?.name.startsWith('$') ?? false);
}

function parseOperator(path: Path, operator: Field): Filter {
  switch (operator.name) {
    case '$eq':
      return comparison('eq', path, operator);
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return comparison(operator.name.slice(1) as Comparison, path, operator);
    case '$ne':
      return { kind: 'not', filter: comparison('eq', path, operator) };
    case '$in':
      return parseIn(path, operator);
    case '$exists': {
      const filter: Filter = { kind: 'exists', path };
      return isTrue(operator) ? filter : { kind: 'not', filter };
    }
    default:
      throw notImplemented(2, `the operator ${operator.name}`);
  }
}

const comparison = (kind: Comparison, path: Path, operand: Value): Filter => ({ kind, path, operand });

function parseIn(path: Path, operator: Field): Filter {
  if (!isArray(operator)) throw badValue(`${operator.name} needs an array`);
  let [length, hasNull, hasArray] = [0, false, false];
  for (const element of eachElement(operator)) {
    if (hasOperators(element)) throw badValue(`cannot nest $ under ${operator.name}`);
    length++;
    hasNull ||= element.type === Type.null;
    hasArray ||= isArray(element);
  }
  return { kind: 'in', path, operands: operandsOf(operator, { length, hasNull, hasArray }) };
}

function operandsOf(array: Value, flags: Pick<Operands, 'length' | 'hasNull' | 'hasArray'>): Operands {
  let points: KeySet | undefined;
  return {
    ...flags,
    get points() {
      points ??= flags.hasNull ? createKeySet([...eachElement(array), UNDEFINED]) : createKeySet(eachElement(array));
      return points;
    },
    [Symbol.iterator]: () => eachElement(array),
  };
}

/** Truth as on the server: anything but false, 0 and null. */
export function isTrue(value: Value): boolean {
  if (isNumeric(value.type)) return toNumber(value) !== 0;
  if (value.type === Type.boolean) return value.bytes[value.start] === 1;
  return value.type !== Type.null;
}
