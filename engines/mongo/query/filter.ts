/** Parses a filter document into a tree of conditions; refuses everything outside the supported subset. */
import { NULL } from '../bson/encode.js';
import { isNumeric, toNumber } from '../bson/number.js';
import {
  eachElement,
  elementsOf,
  type Field,
  fieldsOf,
  isArray,
  isObject,
  Type,
  typeName,
  type Value,
} from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { createKeySet, type KeySet } from './key-set.js';
import { type Path, pathOf } from './path.js';

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
  | { readonly kind: 'nor'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | Condition;

/** Matched by null, too. */
export const UNDEFINED: Value = { ...NULL, type: Type.undefined };

const badValue = (message: string): CommandError => new CommandError(2, message);

/**
 * JavaScript's regular expressions differ from PCRE, and a hostile one would block the process regardless of its time
 * limit.
 */
const regexNotImplemented = (): CommandError => notImplemented(2, 'regular expressions');

/** Parses a filter document. Errors: 2 for unknown operators and invalid operands. */
export function parseFilter(document: Value): Filter {
  const filters = fieldsOf(document).map(parseClause);
  return filters.length === 1 ? filters[0]! : { kind: 'and', filters };
}

function parseClause(field: Field): Filter {
  switch (field.name) {
    case '$and':
    case '$or':
    case '$nor':
      return { kind: field.name.slice(1) as 'and' | 'or' | 'nor', filters: parseList(field) };
    case '$comment':
      return { kind: 'and', filters: [] };
  }
  if (field.name.startsWith('$')) throw badValue(`unknown top level operator: ${field.name}`);
  return parseField(filterPath(field.name), field);
}

/** Limits path depth, because upserts create documents from the paths of the filter. */
const MAX_PARTS = 80;

/** Errors: 2 for a position inside a path, because its meaning is ambiguous. */
function filterPath(name: string): Path {
  const path = pathOf(name);
  if (path.parts.length > MAX_PARTS) throw notImplemented(15, `paths of more than ${MAX_PARTS} parts`);
  if (path.parts.slice(1, -1).some(({ position }) => position >= 0))
    throw notImplemented(2, `a position inside the path '${name}'`);
  return path;
}

function parseList(field: Field): Filter[] {
  if (!isArray(field)) throw badValue(`${field.name} must be an array`);
  const entries = elementsOf(field);
  if (entries.length === 0) throw badValue('$and/$or/$nor must be a nonempty array');
  return entries.map((entry) => {
    if (!isObject(entry)) throw badValue('$or/$and/$nor entries need to be full objects');
    return parseFilter(entry);
  });
}

function parseField(path: Path, value: Value): Filter {
  if (value.type === Type.regex) throw regexNotImplemented();
  if (!hasOperators(value)) return comparison('eq', path, value);
  const filters = parseOperators(path, value);
  return filters.length === 1 ? filters[0]! : { kind: 'and', filters };
}

/** Whether a value is an object of operators, as opposed to a literal one. */
export function hasOperators(value: Value): boolean {
  return isObject(value) && (fieldsOf(value)[0]?.name.startsWith('$') ?? false);
}

function parseOperators(path: Path, value: Value): Filter[] {
  return fieldsOf(value).map((operator) => parseOperator(path, operator));
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
    case '$nin':
      return { kind: 'not', filter: parseIn(path, operator) };
    case '$exists': {
      const filter: Filter = { kind: 'exists', path };
      return isTrue(operator) ? filter : { kind: 'not', filter };
    }
    case '$not':
      return { kind: 'not', filter: parseNot(path, operator) };
    case '$regex':
    case '$options':
      throw regexNotImplemented();
    case '$elemMatch':
      throw notImplemented(2, '$elemMatch');
    default:
      throw badValue(`unknown operator: ${operator.name}`);
  }
}

function comparison(kind: Comparison, path: Path, operand: Value): Filter {
  if (operand.type === Type.undefined) throw badValue('cannot compare to undefined');
  if (operand.type === Type.regex) throw regexNotImplemented();
  if (kind !== 'eq' && (operand.type === Type.minKey || operand.type === Type.maxKey))
    throw notImplemented(2, `ranges of ${typeName(operand)}`);
  return { kind, path, operand };
}

function parseIn(path: Path, operator: Field): Filter {
  if (!isArray(operator)) throw badValue(`${operator.name} needs an array`);
  let [length, hasNull, hasArray] = [0, false, false];
  for (const element of eachElement(operator)) {
    if (element.type === Type.regex) throw regexNotImplemented();
    if (element.type === Type.undefined) throw badValue('cannot compare to undefined');
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

function parseNot(path: Path, operator: Field): Filter {
  if (operator.type === Type.regex) throw regexNotImplemented();
  if (!isObject(operator)) throw badValue('$not needs a document');
  const first = fieldsOf(operator)[0];
  if (!first) throw badValue('$not cannot be empty');
  if (!first.name.startsWith('$')) throw badValue(`unknown operator: ${first.name}`);
  return { kind: 'and', filters: parseOperators(path, operator) };
}

/** Parses operators that apply to values themselves; `path` only appears in errors. */
export const parseElementConditions = (path: Path, operators: Value): Filter => ({
  kind: 'and',
  filters: parseOperators(path, operators),
});

/** Truth as on the server: anything but false, 0, null and undefined. */
export function isTrue(value: Value): boolean {
  if (isNumeric(value.type)) return toNumber(value) !== 0;
  if (value.type === Type.boolean) return value.bytes[value.start] === 1;
  return value.type !== Type.null && value.type !== Type.undefined;
}
