/** Reads the arguments of a command by name and type, and refuses unknown ones. */
import { integerOf, isNumeric } from '../bson/number.js';
import { elementsOf, type Field, fieldsByName, isObject, Type, textOf, type Value } from '../bson/value.js';
import { CommandError, notImplemented, requireType, wrongType } from '../errors.js';
import { isTrue } from '../query/filter.js';
import type { Request } from './request.js';

/** Arguments that every command accepts; they are handled before the command or have no effect here. */
const GENERIC = new Set([
  '$db',
  'lsid',
  '$clusterTime',
  '$readPreference',
  'txnNumber',
  'maxTimeMS',
  'readConcern',
  'writeConcern',
]);

/** Arguments of the real server that a client may well send, and that are not implemented. */
const UNIMPLEMENTED = new Set(['allowDiskUse', 'arrayFilters', 'collation', 'fields', 'hint', 'query', 'sort']);

/** Error codes of commands for an unknown field. */
const UNKNOWN: Record<string, number> = { find: 9, aggregate: 9, createIndexes: 2, findAndModify: 51177 };

/** Arguments of a command or of one of its statements. The constructor refuses fields not in `known`. */
export class Arguments {
  constructor(
    readonly scope: string,
    readonly fields: ReadonlyMap<string, Field>,
    known: readonly string[],
    unknown = 40415,
    generic = false,
  ) {
    for (const name of fields.keys()) {
      if (known.includes(name) || (generic && GENERIC.has(name))) continue;
      if (UNIMPLEMENTED.has(name)) throw notImplemented(unknown, `${name} (in ${scope})`);
      throw new CommandError(
        unknown,
        unknown === 9
          ? `Failed to parse: Unrecognized field '${name}'.`
          : `BSON field '${scope}.${name}' is an unknown field.`,
      );
    }
  }

  /** Errors: 40414 if it is missing. */
  required(name: string): Field {
    const field = this.fields.get(name);
    if (!field) throw new CommandError(40414, `BSON field '${this.scope}.${name}' is missing but a required field`);
    return field;
  }

  /** Null counts as absent. */
  get(name: string): Field | undefined {
    const field = this.fields.get(name);
    return field?.type === Type.null ? undefined : field;
  }

  object(name: string): Field | undefined {
    const field = this.get(name);
    return field && requireType(field, `${this.scope}.${name}`, Type.object);
  }

  text(name: string): string | undefined {
    const field = this.get(name);
    return field && textOf(requireType(field, `${this.scope}.${name}`, Type.string));
  }

  flag(name: string, defaultValue: boolean): boolean {
    const field = this.get(name);
    if (!field) return defaultValue;
    if (field.type !== Type.boolean && !isNumeric(field.type)) throw wrongType(`${this.scope}.${name}`, field, 'bool');
    return isTrue(field);
  }

  /** A whole number of at least `minimum`. Errors: 14 for other types, 9 and 2 for other numbers. */
  integer(name: string, minimum = 0): number | undefined {
    const field = this.get(name);
    if (!field) return undefined;
    if (!isNumeric(field.type)) throw wrongType(`${this.scope}.${name}`, field, 'number');
    const number = integerOf(field);
    if (number === undefined) throw new CommandError(9, `${name} has to be a whole number`);
    if (number < minimum) throw new CommandError(2, `${name} value must be non-negative, but received: ${number}`);
    return number;
  }

  array(name: string): Value[] | undefined {
    const field = this.get(name);
    return field && elementsOf(requireType(field, `${this.scope}.${name}`, Type.array));
  }
}

/** Arguments of a command; `known` lists those besides its name. Checks the read and write concerns. */
export function argumentsOf(request: Request, known: readonly string[]): Arguments {
  const unknown = UNKNOWN[request.name] ?? 40415;
  checkConcerns(request);
  return new Arguments(request.name, request.fields, [request.name, ...known], unknown, true);
}

function checkConcerns({ fields }: Request): void {
  const write = fields.get('writeConcern');
  if (write) {
    const concern = new Arguments(
      'writeConcern',
      fieldsByName(requireType(write, 'writeConcern', Type.object)),
      ['w', 'j', 'wtimeout', 'fsync', 'provenance'],
      9,
    );
    const w = concern.get('w');
    if (w && w.type === Type.string && textOf(w) !== 'majority')
      throw new CommandError(79, `No write concern mode named '${textOf(w)}' found in replica set configuration`);
    if (w && w.type !== Type.string && (integerOf(w) ?? 51) > 1)
      throw new CommandError(100, 'Not enough data-bearing nodes');
  }
  const read = fields.get('readConcern');
  if (!read) return;
  const concern = new Arguments(
    'readConcern',
    fieldsByName(requireType(read, 'readConcern', Type.object)),
    ['level', 'afterClusterTime', 'afterOpTime', 'provenance'],
    72,
  );
  const level = concern.text('level') ?? 'local';
  if (level === 'snapshot') throw new CommandError(72, 'read concern level snapshot is only valid in a transaction');
  if (!['local', 'majority', 'available', 'linearizable'].includes(level))
    throw new CommandError(9, `Either no level or one of local, majority, available or linearizable, not '${level}'`);
}

const MAX_DOCUMENTS = 100_000;

/** Documents of an argument that may be in the body or in a sequence. Errors: 40414, 14, 16 if empty. */
export function documentsOf(request: Request, name: string): Value[] {
  const sequence = request.message.sequences.get(name);
  const args = new Arguments(request.name, request.fields, [...request.fields.keys()]);
  if (!sequence) args.required(name);
  const documents = sequence ? [...sequence] : (args.array(name) ?? []);
  for (const document of documents)
    if (!isObject(document)) throw wrongType(`${request.name}.${name}`, document, 'object');
  if (documents.length < 1 || documents.length > MAX_DOCUMENTS)
    throw new CommandError(
      16,
      `Write batch sizes must be between 1 and ${MAX_DOCUMENTS}. Got ${documents.length} operations.`,
    );
  return documents;
}
