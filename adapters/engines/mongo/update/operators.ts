/** What each update operator makes of the value at its path. */
import { Timestamp } from 'bson';
import { compareValues, equalValues } from '../bson/compare.js';
import { arrayOf, toValue } from '../bson/make.js';
import { integerOf, isNumeric } from '../bson/number.js';
import { show } from '../bson/text.js';
import {
  elementsOf,
  type Field,
  fieldsOf,
  isArray,
  isObject,
  Type,
  textOf,
  typeName,
  type Value,
} from '../bson/value.js';
import { CommandError } from '../errors.js';
import { hasOperators, parseElementConditions, parseFilter } from '../query/filter.js';
import { compile, elementTest } from '../query/match.js';
import { pathOf } from '../query/path.js';
import { regexOf } from '../query/regex.js';
import { combine, zeroLike } from './arithmetic.js';

/** What stands where an operator applies, for its errors: `id` is the document's `_id` when it has one. */
export interface Target {
  readonly path: string;
  readonly current: Value | undefined;
  readonly id: Value | undefined;
  /** Whether the document is being made by an upsert. */
  readonly inserting: boolean;
}

/** The new value, 'remove', or 'keep' for no change at all (then nothing is created on the way either). */
export type Outcome = Value | 'remove' | 'keep';
export type Operator = (target: Target) => Outcome;

const bad = (message: string): CommandError => new CommandError(2, message);

/** The operator of that name for one operand, or undefined when there is none. Errors: 2, 14 for bad operands. */
export function operatorOf(name: string, operand: Field): Operator | undefined {
  switch (name) {
    case '$set':
      return () => operand;
    case '$setOnInsert':
      return ({ inserting }) => (inserting ? operand : 'keep');
    case '$unset':
      return () => 'remove';
    case '$inc':
      return arithmetic('$inc', operand);
    case '$mul':
      return arithmetic('$mul', operand);
    case '$min':
      return ({ current }) => (!current || compareValues(operand, current) < 0 ? operand : 'keep');
    case '$max':
      return ({ current }) => (!current || compareValues(operand, current) > 0 ? operand : 'keep');
    case '$currentDate':
      return currentDate(operand);
    case '$push':
      return push(operand);
    case '$addToSet':
      return addToSet(operand);
    case '$pull':
      return pull(operand);
    default:
      return undefined;
  }
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);
const inDocument = (id: Value | undefined): string => (id ? `{_id: ${show(id)}}` : '{}');

function arithmetic(name: '$inc' | '$mul', operand: Field): Operator {
  const verb = name === '$inc' ? 'increment' : 'multiply';
  if (!isNumeric(operand.type))
    throw new CommandError(
      14,
      `Cannot ${verb} with non-numeric argument: {${operand.name}: ${show(operand)}}`,
    );
  const operation = name === '$inc' ? 'add' : 'multiply';
  return ({ path, current, id }) => {
    if (current && !isNumeric(current.type))
      throw new CommandError(
        14,
        `Cannot apply ${name} to a value of non-numeric type. ${inDocument(id)} has the field '${nameOf(path)}' of non-numeric type ${typeName(current)}`,
      );
    if (!current) return name === '$inc' ? operand : zeroLike(operand);
    return combine(operation, current, operand, () =>
      bad(
        `Failed to apply ${name} operations to current value ((${OVERFLOW[current.type]})${show(current)}) for document ${inDocument(id)}`,
      ),
    );
  };
}

const OVERFLOW: Record<number, string> = { [Type.int]: 'NumberInt', [Type.long]: 'NumberLong' };

function currentDate(operand: Field): Operator {
  if (operand.type === Type.boolean) return () => toValue(new Date());
  const fields = isObject(operand) ? fieldsOf(operand) : [];
  if (!isObject(operand))
    throw bad(
      `${typeName(operand)} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({$type: 'timestamp/date'}).`,
    );
  if (fields.length !== 1 || fields[0]!.name !== '$type')
    throw bad(`Unrecognized $currentDate option: ${fields[0]?.name ?? ''}`);
  const type = fields[0]!.type === Type.string ? textOf(fields[0]!) : '';
  if (type === 'date') return () => toValue(new Date());
  if (type === 'timestamp') return () => toValue(new Timestamp({ t: Math.floor(Date.now() / 1000), i: 1 }));
  throw bad(
    "The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}",
  );
}

/** The operand's clauses when it is `{$each: [...], ...}`, else undefined. */
function clausesOf(operand: Value): Map<string, Field> | undefined {
  if (!isObject(operand)) return undefined;
  const clauses = new Map(fieldsOf(operand).map((field) => [field.name, field]));
  return clauses.has('$each') ? clauses : undefined;
}

function push(operand: Field): Operator {
  const clauses = clausesOf(operand);
  const each = clauses?.get('$each');
  const slice = clauses?.get('$slice');
  for (const name of clauses?.keys() ?? [])
    if (name !== '$each' && name !== '$slice') throw bad(`Unrecognized clause in $push: ${name}`);
  if (each && !isArray(each))
    throw bad(`The argument to $each in $push must be an array but it was of type: ${typeName(each)}`);
  const limit = slice && integerOf(slice);
  if (slice && limit === undefined)
    throw bad(`The value for $slice must be an integer value but was given type: ${typeName(slice)}`);
  const added = each ? elementsOf(each) : [operand];
  return ({ path, current, id }) => {
    if (current && !isArray(current))
      throw bad(
        `The field '${path}' must be an array but is of type ${typeName(current)} in document ${inDocument(id)}`,
      );
    const all = [...(current ? elementsOf(current) : []), ...added];
    if (limit === undefined) return arrayOf(all);
    return arrayOf(limit < 0 ? all.slice(limit) : all.slice(0, limit));
  };
}

function addToSet(operand: Field): Operator {
  const clauses =
    isObject(operand) && fieldsOf(operand)[0]?.name === '$each' ? clausesOf(operand) : undefined;
  const each = clauses?.get('$each');
  if (each && !isArray(each))
    throw new CommandError(
      14,
      `The argument to $each in $addToSet must be an array but it was of type ${typeName(each)}`,
    );
  for (const name of clauses?.keys() ?? [])
    if (name !== '$each') throw bad(`Found unexpected fields after $each in $addToSet: ${show(operand)}`);
  const wanted = each ? elementsOf(each) : [operand];
  return ({ path, current }) => {
    if (current && !isArray(current))
      throw bad(
        `Cannot apply $addToSet to non-array field. Field named '${nameOf(path)}' has non-array type ${typeName(current)}`,
      );
    const all = current ? elementsOf(current) : [];
    const before = all.length;
    for (const value of wanted) if (!all.some((present) => equalValues(present, value))) all.push(value);
    return current && all.length === before ? 'keep' : arrayOf(all);
  };
}

function pull(operand: Field): Operator {
  const gone = pulled(operand);
  return ({ current }) => {
    if (!current) return 'keep';
    if (!isArray(current)) throw bad('Cannot apply $pull to a non-array value');
    const all = elementsOf(current);
    const left = all.filter((element) => !gone(element));
    return left.length === all.length ? 'keep' : arrayOf(left);
  };
}

/** Which elements a `$pull` takes: those equal to a value, or meeting conditions, or documents meeting a filter. */
function pulled(operand: Value): (element: Value) => boolean {
  if (operand.type === Type.regex) {
    const pattern = regexOf(operand);
    return (element) => element.type === Type.string && pattern.test(textOf(element));
  }
  if (!isObject(operand)) return (element) => equalValues(element, operand);
  if (hasOperators(operand)) return elementTest(false, parseElementConditions(pathOf(''), operand));
  const matches = compile(parseFilter(operand));
  return (element) => element.type === Type.object && matches(element);
}
