/** Index definitions: fields, options, and properties observed in their entries. */
import { integerOf, isNumeric, toNumber } from '../bson/number.js';
import { documentValue, type Field, fieldsOf, isObject, Type, textOf, type Value } from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { isTrue } from '../query/filter.js';
import { type Path, pathOf, plainPath } from '../query/path.js';
import { spaceHead } from './layout.js';

/** An index of a collection. `multikey` and `long` only ever become true. */
export interface Index {
  readonly space: number;
  readonly head: Buffer;
  readonly name: string;
  /** Specification as returned by listIndexes. */
  readonly specification: Buffer;
  readonly key: Value;
  readonly paths: readonly Path[];
  readonly directions: readonly (1 | -1)[];
  readonly unique: boolean;
  readonly sparse: boolean;
  readonly expireAfterSeconds: number | undefined;
  /** By field, true if it was ever reached through an array. */
  readonly multikey: boolean[];
  /** True if any key was too long to be stored whole. */
  long: boolean;
  /** False while the index is being built: it is written but not read. */
  ready: boolean;
}

/** State of an index besides its specification. */
export interface IndexState {
  readonly space: number;
  readonly multikey?: readonly boolean[];
  readonly long?: boolean;
}

/** Creates an index from a specification checked by `checkSpecification`. */
export function openIndex(specification: Buffer, state: IndexState): Index {
  const fields = new Map(fieldsOf(documentValue(specification)).map((field) => [field.name, field]));
  const key = fields.get('key')!;
  const parts = fieldsOf(key);
  const expire = fields.get('expireAfterSeconds');
  const flag = (name: string): boolean => fields.has(name) && isTrue(fields.get(name)!);
  return {
    space: state.space,
    head: spaceHead(state.space),
    name: textOf(fields.get('name')!),
    specification,
    key,
    paths: parts.map((part) => pathOf(part.name)),
    directions: parts.map((part) => (toNumber(part) < 0 ? -1 : 1)),
    unique: flag('unique'),
    sparse: flag('sparse'),
    expireAfterSeconds: expire && toNumber(expire),
    multikey: [...(state.multikey ?? parts.map(() => false))],
    long: state.long ?? false,
    ready: true,
  };
}

const OPTIONS = new Set(['v', 'key', 'name', 'ns', 'unique', 'sparse', 'background', 'expireAfterSeconds']);

/** Validates a client's specification and returns its fields. Errors: 197, 67, 14, 9. */
export function checkSpecification(specification: Value): Map<string, Field> {
  const fields = new Map(fieldsOf(specification).map((field) => [field.name, field]));
  for (const name of fields.keys())
    if (name === 'partialFilterExpression') throw notImplemented(67, 'partial indexes');
    else if (!OPTIONS.has(name))
      throw new CommandError(197, `The field '${name}' is not valid for an index specification. Specification: `);
  const key = fields.get('key');
  if (!key) throw new CommandError(9, `The 'key' field is a required property of an index specification`);
  if (!isObject(key)) throw new CommandError(14, `The field 'key' must be an object, but got something else`);
  const name = fields.get('name');
  if (!name) throw new CommandError(9, `The 'name' field is a required property of an index specification`);
  if (name.type !== Type.string) throw new CommandError(14, `The field 'name' must be a string`);
  if (textOf(name) === '' || textOf(name) === '*') throw cannotCreateIndex('index name cannot be empty or *');
  for (const flag of ['unique', 'sparse', 'background']) {
    const field = fields.get(flag);
    if (field && field.type !== Type.boolean && !isNumeric(field.type))
      throw new CommandError(14, `The field '${flag}' has value that is not convertible to bool`);
  }
  const version = fields.get('v');
  if (version && integerOf(version) !== 2) throw cannotCreateIndex(`Invalid index version: only v: 2 is supported`);
  checkKey(key);
  checkIdIndex(fields, key);
  checkExpiry(fields.get('expireAfterSeconds'), key);
  return fields;
}

const cannotCreateIndex = (message: string): CommandError => new CommandError(67, message);

function checkKey(key: Value): void {
  const fields = fieldsOf(key);
  if (fields.length === 0) throw cannotCreateIndex('Index keys cannot be an empty object');
  if (fields.length > 32) throw cannotCreateIndex('Index keys cannot have more than 32 fields');
  if (new Set(fields.map(({ name }) => name)).size < fields.length)
    throw cannotCreateIndex('Index keys cannot repeat a field');
  for (const field of fields) {
    if (!isNumeric(field.type))
      throw cannotCreateIndex(`Values in v:2 index key pattern cannot be of type other than number`);
    const value = toNumber(field);
    if (value === 0) throw cannotCreateIndex('Values in the index key pattern cannot be 0.');
    if (value !== 1 && value !== -1)
      throw notImplemented(67, `index keys other than 1 and -1, as '${field.name}: ${value}'`);
    const parts = field.name.split('.');
    if (parts.includes('') || parts.some((part) => part.startsWith('$')))
      throw cannotCreateIndex(`Index key contains an illegal field name: '${field.name}'`);
    plainPath(field.name, 'an index', 67);
  }
}

/** The index on `_id` is fixed. Errors: 197 for options, 2 for another direction or for its name on another index. */
function checkIdIndex(fields: ReadonlyMap<string, Field>, key: Value): void {
  const [first, second] = fieldsOf(key);
  if (first?.name !== '_id' || second) {
    if (textOf(fields.get('name')!) === '_id_')
      throw new CommandError(2, "The index name '_id_' is reserved for the _id index");
    return;
  }
  if (toNumber(first) !== 1) throw new CommandError(2, "The field 'key' for an _id index must be {_id: 1}");
  for (const name of ['unique', 'sparse', 'expireAfterSeconds'])
    if (fields.has(name))
      throw new CommandError(197, `The field '${name}' is not valid for an _id index specification`);
}

function checkExpiry(expire: Value | undefined, key: Value): void {
  if (!expire) return;
  const seconds = isNumeric(expire.type) ? toNumber(expire) : Number.NaN;
  if (seconds % 1 !== 0 && seconds > 0) throw notImplemented(67, 'an expireAfterSeconds that is not whole');
  if (!(seconds >= 0 && seconds <= 2 ** 31 - 1))
    throw cannotCreateIndex('TTL index expireAfterSeconds option must be a number within 0 to 2147483647');
  if (fieldsOf(key).length > 1)
    throw cannotCreateIndex('TTL indexes are single-field indexes, compound indexes do not support TTL');
}
