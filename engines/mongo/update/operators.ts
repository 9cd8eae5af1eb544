/** Update operators: each computes the new value at a path. */
import { Double, Int32, Long } from 'bson';
import { compareValues, equalValues } from '../bson/compare.js';
import { arrayOf, toValue } from '../bson/encode.js';
import { isNumeric, longOf, toNumber } from '../bson/number.js';
import { show } from '../bson/print.js';
import { elementsOf, type Field, fieldsOf, isArray, isObject, Type, typeName, type Value } from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { hasOperators, parseFilter } from '../query/filter.js';
import { compile } from '../query/match.js';

/** Current value at the path, and context for errors: `id` is the document's `_id` if it has one. */
export interface Target {
  readonly path: string;
  readonly current: Value | undefined;
  readonly id: Value | undefined;
  /** True if an upsert is creating the document. */
  readonly inserting: boolean;
}

/** The new value, 'remove', or 'keep' for no change (then no parents are created either). */
export type Outcome = Value | 'remove' | 'keep';
export type Operator = (target: Target) => Outcome;

const badValue = (message: string): CommandError => new CommandError(2, message);

/** Creates the named operator for one operand; undefined if it is unknown. Errors: 2, 14 for invalid operands. */
export function operatorOf(name: string, operand: Field): Operator | undefined {
  switch (name) {
    case '$set':
      return () => operand;
    case '$setOnInsert':
      return ({ inserting }) => (inserting ? operand : 'keep');
    case '$unset':
      return () => 'remove';
    case '$inc':
      return increment(operand);
    case '$max':
      return ({ current }) => (!current || compareValues(operand, current) > 0 ? operand : 'keep');
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

function increment(operand: Field): Operator {
  if (!isNumeric(operand.type))
    throw new CommandError(14, `Cannot increment with non-numeric argument: {${operand.name}: ${show(operand)}}`);
  return ({ path, current, id }) => {
    if (current && !isNumeric(current.type))
      throw new CommandError(
        14,
        `Cannot apply $inc to a value of non-numeric type. ${inDocument(id)} has the field '${nameOf(path)}' of non-numeric type ${typeName(current)}`,
      );
    if (!current) return operand;
    return add(current, operand, () =>
      badValue(
        `Failed to apply $inc operations to current value ((${OVERFLOW[current.type]})${show(current)}) for document ${inDocument(id)}`,
      ),
    );
  };
}

const OVERFLOW: Record<number, string> = { [Type.int]: 'NumberInt', [Type.long]: 'NumberLong' };

/** Clauses of an operand of the form `{$each: [...], ...}`, else undefined. */
function clausesOf(operand: Value): Map<string, Field> | undefined {
  if (!isObject(operand)) return undefined;
  const clauses = new Map(fieldsOf(operand).map((field) => [field.name, field]));
  return clauses.has('$each') ? clauses : undefined;
}

function push(operand: Field): Operator {
  const clauses = clausesOf(operand);
  const each = clauses?.get('$each');
  for (const name of clauses?.keys() ?? [])
    if (name !== '$each') throw notImplemented(2, `the clause ${name} of $push`);
  if (each && !isArray(each))
    throw badValue(`The argument to $each in $push must be an array but it was of type: ${typeName(each)}`);
  const added = each ? elementsOf(each) : [operand];
  if (added.length === 0) throw notImplemented(2, 'a $push of nothing');
  return ({ path, current, id }) => {
    if (current && !isArray(current))
      throw badValue(
        `The field '${path}' must be an array but is of type ${typeName(current)} in document ${inDocument(id)}`,
      );
    return arrayOf([...(current ? elementsOf(current) : []), ...added]);
  };
}

function addToSet(operand: Field): Operator {
  if (isObject(operand) && fieldsOf(operand)[0]?.name === '$each') throw notImplemented(2, '$each in $addToSet');
  return ({ path, current }) => {
    if (current && !isArray(current))
      throw badValue(
        `Cannot apply $addToSet to non-array field. Field named '${nameOf(path)}' has non-array type ${typeName(current)}`,
      );
    const all = current ? elementsOf(current) : [];
    return all.some((one) => equalValues(one, operand)) ? 'keep' : arrayOf([...all, operand]);
  };
}

function pull(operand: Field): Operator {
  const isPulled = pullPredicate(operand);
  return ({ current }) => {
    if (!current) return 'keep';
    if (!isArray(current)) throw badValue('Cannot apply $pull to a non-array value');
    const all = elementsOf(current);
    const remaining = all.filter((element) => !isPulled(element));
    return remaining.length === all.length ? 'keep' : arrayOf(remaining);
  };
}

/** Selects the elements that a `$pull` removes: those equal to a value, or documents meeting a filter. */
function pullPredicate(operand: Value): (element: Value) => boolean {
  if (!isObject(operand)) return (element) => equalValues(element, operand);
  if (hasOperators(operand)) throw notImplemented(2, 'conditions of $pull on the elements themselves');
  const matches = compile(parseFilter(operand));
  return (element) => {
    if (isArray(element)) throw notImplemented(2, 'conditions of $pull on arrays in the array');
    return isObject(element) && matches(element);
  };
}

/** Adds two numbers. int32 grows to Long; a double operand determines the type. Throws `overflow` for a Long. */
export function add(a: Value, b: Value, overflow: () => CommandError): Value {
  if (a.type === Type.double || b.type === Type.double) return toValue(new Double(toNumber(a) + toNumber(b)));
  const result = integer(a) + integer(b);
  if (BigInt.asIntN(64, result) !== result) throw overflow();
  const small = a.type === Type.int && b.type === Type.int && BigInt.asIntN(32, result) === result;
  return toValue(small ? new Int32(Number(result)) : Long.fromBigInt(result));
}

const integer = (value: Value): bigint => (value.type === Type.int ? BigInt(toNumber(value)) : longOf(value));
