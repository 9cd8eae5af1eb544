/** One command as its handler sees it: who asks, and arguments that are read by name and type. */
import { integerOf, isNumeric } from '../bson/number.js';
import {
  bodyOf,
  elementsOf,
  type Field,
  fieldsOf,
  isObject,
  Type,
  textOf,
  typeName,
  type Value,
} from '../bson/value.js';
import { CommandError } from '../errors.js';
import { isTrue } from '../query/filter.js';
import type { Message } from '../wire/message.js';

/** A client's connection. */
export interface Connection {
  readonly id: number;
  readonly peer: string;
  /** Ends a wait on behalf of the client at once, when it has gone. */
  waiting: (() => void) | undefined;
  /** Turns true when the client has gone. */
  closed: boolean;
}

export interface Request {
  readonly name: string;
  readonly database: string;
  readonly fields: ReadonlyMap<string, Field>;
  readonly message: Message;
  readonly connection: Connection;
  readonly session: Buffer | undefined;
  readonly txnNumber: bigint | undefined;
}

/** Understood by every command; what they mean is either settled before the handler or always so here. */
const GENERIC = new Set([
  '$db',
  'lsid',
  '$clusterTime',
  '$readPreference',
  'txnNumber',
  'maxTimeMS',
  'readConcern',
  'writeConcern',
  '$configServerState',
]);

/** How a command refuses a field it does not know. */
const UNKNOWN: Record<string, number> = { find: 9, aggregate: 9, createIndexes: 2, findAndModify: 51177 };

/** Reads a command. Errors: 40571 without a database, 14 and 72 for a wrong session, 20 for a transaction. */
export function readRequest(message: Message, connection: Connection): Request {
  const list = fieldsOf(message.body);
  const fields = new Map(list.map((field) => [field.name, field]));
  if (fields.size < list.length) throw new CommandError(40413, 'BSON field is a duplicate field');
  const database = message.database ?? databaseOf(fields);
  for (const name of message.sequences.keys())
    if (fields.has(name))
      throw new CommandError(40433, `Element ${name} in OP_MSG body is also a document sequence`);
  const request = { name: list[0]?.name ?? '', database, fields, message, connection };
  return { ...request, ...sessionOf(fields) };
}

function databaseOf(fields: ReadonlyMap<string, Field>): string {
  const field = fields.get('$db');
  if (!field) throw new CommandError(40571, 'OP_MSG requests require a $db argument');
  if (field.type !== Type.string)
    throw new CommandError(
      14,
      `BSON field '$db' is the wrong type '${typeName(field)}', expected type 'string'`,
    );
  const database = textOf(field);
  if (database === '' || database.length > 63 || /[/\\. "$\0]/.test(database))
    if (database !== '$external') throw new CommandError(73, `Invalid database name: '${database}'`);
  return database;
}

function sessionOf(fields: ReadonlyMap<string, Field>): Pick<Request, 'session' | 'txnNumber'> {
  for (const name of ['startTransaction', 'autocommit', 'coordinator'])
    if (fields.has(name))
      throw new CommandError(20, 'Transaction numbers are only allowed on a replica set member or mongos');
  const lsid = fields.get('lsid');
  const number = fields.get('txnNumber');
  let session: Buffer | undefined;
  if (lsid) session = sessionId(requireType(lsid, 'lsid', Type.object));
  if (!number) return { session, txnNumber: undefined };
  if (!session) throw new CommandError(72, 'Transaction number requires a session ID to also be specified');
  const txnNumber = requireType(number, 'txnNumber', Type.long).bytes.readBigInt64LE(number.start);
  if (txnNumber < 0n) throw new CommandError(72, 'Transaction number cannot be negative');
  return { session, txnNumber };
}

/** The 16 bytes of a session's id. */
export function sessionId(lsid: Value): Buffer {
  const fields = fieldsOf(lsid);
  const id = fields.find(({ name }) => name === 'id');
  for (const { name } of fields)
    if (name !== 'id' && name !== 'uid')
      throw new CommandError(40415, `BSON field 'OperationSessionInfo.lsid.${name}' is an unknown field.`);
  if (!id)
    throw new CommandError(
      40414,
      "BSON field 'OperationSessionInfo.lsid.id' is missing but a required field",
    );
  const body = bodyOf(id);
  if (id.type !== Type.binary || body.length !== 21 || body[4] !== 4)
    throw new CommandError(
      14,
      "BSON field 'OperationSessionInfo.lsid.id' is the wrong type, expected a UUID",
    );
  return Buffer.from(body.subarray(5));
}

function requireType<T extends Value>(value: T, name: string, type: number): T {
  if (value.type === type) return value;
  throw wrongType(name, value, typeName({ ...value, type }));
}

const wrongType = (name: string, value: Value, expected: string): CommandError =>
  new CommandError(
    14,
    `BSON field '${name}' is the wrong type '${typeName(value)}', expected type '${expected}'`,
  );

/** The arguments of a command or of one of its statements; making it refuses every field not in `known`. */
export class Arguments {
  constructor(
    readonly what: string,
    readonly fields: ReadonlyMap<string, Field>,
    known: readonly string[],
    unknown = 40415,
    generic = false,
  ) {
    for (const name of fields.keys()) {
      if (known.includes(name) || (generic && GENERIC.has(name))) continue;
      throw new CommandError(
        unknown,
        unknown === 9
          ? `Failed to parse: Unrecognized field '${name}'.`
          : `BSON field '${what}.${name}' is an unknown field.`,
      );
    }
  }

  /** Errors: 40414 when it is missing. */
  required(name: string): Field {
    const field = this.fields.get(name);
    if (!field)
      throw new CommandError(40414, `BSON field '${this.what}.${name}' is missing but a required field`);
    return field;
  }

  /** Null counts as not given. */
  get(name: string): Field | undefined {
    const field = this.fields.get(name);
    return field?.type === Type.null ? undefined : field;
  }

  object(name: string): Field | undefined {
    const field = this.get(name);
    return field && requireType(field, `${this.what}.${name}`, Type.object);
  }

  text(name: string): string | undefined {
    const field = this.get(name);
    return field && textOf(requireType(field, `${this.what}.${name}`, Type.string));
  }

  flag(name: string, otherwise: boolean): boolean {
    const field = this.get(name);
    if (!field) return otherwise;
    if (field.type !== Type.boolean && !isNumeric(field.type))
      throw wrongType(`${this.what}.${name}`, field, 'bool');
    return isTrue(field);
  }

  /** A whole number of at least `least`. Errors: 14 for other types, 9 and 2 for other numbers. */
  whole(name: string, least = 0): number | undefined {
    const field = this.get(name);
    if (!field) return undefined;
    if (!isNumeric(field.type)) throw wrongType(`${this.what}.${name}`, field, 'number');
    const number = integerOf(field);
    if (number === undefined) throw new CommandError(9, `${name} has to be a whole number`);
    if (number < least)
      throw new CommandError(2, `${name} value must be non-negative, but received: ${number}`);
    return number;
  }

  array(name: string): Value[] | undefined {
    const field = this.get(name);
    return field && elementsOf(requireType(field, `${this.what}.${name}`, Type.array));
  }
}

/** A command's own arguments; `known` beside its name. Checks the concerns that every command may carry. */
export function argumentsOf(request: Request, known: readonly string[]): Arguments {
  const unknown = UNKNOWN[request.name === 'findandmodify' ? 'findAndModify' : request.name] ?? 40415;
  checkConcerns(request);
  return new Arguments(request.name, request.fields, [request.name, ...known], unknown, true);
}

function checkConcerns({ fields }: Request): void {
  const write = fields.get('writeConcern');
  if (write) {
    const concern = new Arguments(
      'writeConcern',
      named(requireType(write, 'writeConcern', Type.object)),
      ['w', 'j', 'wtimeout', 'fsync', 'provenance'],
      9,
    );
    const w = concern.get('w');
    if (w && w.type === Type.string && textOf(w) !== 'majority')
      throw new CommandError(
        79,
        `No write concern mode named '${textOf(w)}' found in replica set configuration`,
      );
    if (w && w.type !== Type.string && (integerOf(w) ?? 51) > 1)
      throw new CommandError(100, 'Not enough data-bearing nodes');
  }
  const read = fields.get('readConcern');
  if (!read) return;
  const concern = new Arguments(
    'readConcern',
    named(requireType(read, 'readConcern', Type.object)),
    ['level', 'afterClusterTime', 'afterOpTime', 'provenance'],
    72,
  );
  const level = concern.text('level') ?? 'local';
  if (level === 'snapshot')
    throw new CommandError(72, 'read concern level snapshot is only valid in a transaction');
  if (!['local', 'majority', 'available', 'linearizable'].includes(level))
    throw new CommandError(
      9,
      `Either no level or one of local, majority, available or linearizable, not '${level}'`,
    );
}

export const named = (document: Value): Map<string, Field> => {
  const fields = fieldsOf(document);
  return new Map(fields.map((field) => [field.name, field]));
};

/** The namespace a command's first field names. Errors: 73. */
export function namespaceOf(request: Request): string {
  const field = request.fields.get(request.name)!;
  if (field.type !== Type.string)
    throw new CommandError(73, `collection name has invalid type ${typeName(field)}`);
  return checkNamespace(request.database, textOf(field));
}

/** Errors: 73. */
export function checkNamespace(database: string, collection: string): string {
  const namespace = `${database}.${collection}`;
  if (
    collection === '' ||
    collection.startsWith('.') ||
    collection.includes('$') ||
    collection.includes('\0') ||
    Buffer.byteLength(namespace) > 255
  )
    throw new CommandError(73, `Invalid namespace specified '${namespace}'`);
  return namespace;
}

/** The documents of an argument that may come in the body or as a sequence. Errors: 40414, 14, 16 when empty. */
export function documentsOf(request: Request, name: string, most = 100_000): Value[] {
  const sequence = request.message.sequences.get(name);
  const args = new Arguments(request.name, request.fields, [...request.fields.keys()]);
  if (!sequence) args.required(name);
  const documents = sequence ? [...sequence] : (args.array(name) ?? []);
  for (const document of documents)
    if (!isObject(document)) throw wrongType(`${request.name}.${name}`, document, 'object');
  if (documents.length < 1 || documents.length > most)
    throw new CommandError(
      16,
      `Write batch sizes must be between 1 and ${most}. Got ${documents.length} operations.`,
    );
  return documents;
}

/** Errors: 40415-like for sequences no argument takes. */
export function checkSequences(request: Request, known: string | undefined): void {
  for (const name of request.message.sequences.keys())
    if (name !== known)
      throw new CommandError(40415, `BSON field '${request.name}.${name}' is an unknown field.`);
}
