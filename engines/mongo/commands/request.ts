/** Decodes a command: its name, fields, database and session. */
import { bodyOf, type Field, fieldsOf, Type, textOf, typeName, type Value } from '../bson/value.js';
import { CommandError, notImplemented, requireType } from '../errors.js';
import type { Conversation } from '../scram.js';
import type { Message } from '../wire/message.js';

/** A client's connection. */
export interface Connection {
  readonly id: number;
  /** True once the client has proved that it knows the secret; before that only a few commands are allowed. */
  authenticated: boolean;
  /**
   * Called when the client is known to be ours, even if it never authenticates, like a driver's monitoring connection.
   */
  readonly onTrusted: () => void;
  /** Authentication in progress. */
  conversation: Conversation | undefined;
  /** True once the client has disconnected. */
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

/** Reads a command. Errors: 40571 without a database, 14 and 72 for an invalid session, 263 for a transaction. */
export function readRequest(message: Message, connection: Connection): Request {
  const list = fieldsOf(message.body);
  const fields = new Map(list.map((field) => [field.name, field]));
  if (fields.size < list.length) throw new CommandError(40413, 'BSON field is a duplicate field');
  const database = message.database ?? databaseOf(fields);
  for (const name of message.sequences.keys())
    if (fields.has(name)) throw new CommandError(40433, `Element ${name} in OP_MSG body is also a document sequence`);
  const request = { name: list[0]?.name ?? '', database, fields, message, connection };
  return { ...request, ...sessionOf(fields) };
}

function databaseOf(fields: ReadonlyMap<string, Field>): string {
  const field = fields.get('$db');
  if (!field) throw new CommandError(40571, 'OP_MSG requests require a $db argument');
  const database = textOf(requireType(field, '$db', Type.string));
  if (database === '' || database.length > 63 || /[/\\. "$\0]/.test(database))
    if (database !== '$external') throw new CommandError(73, `Invalid database name: '${database}'`);
  return database;
}

function sessionOf(fields: ReadonlyMap<string, Field>): Pick<Request, 'session' | 'txnNumber'> {
  // Code 20 of a standalone server would make drivers report that retryable writes are unsupported.
  for (const name of ['startTransaction', 'autocommit', 'coordinator'])
    if (fields.has(name)) throw notImplemented(263, 'transactions');
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

/** The 16 bytes of a session id. */
export function sessionId(lsid: Value): Buffer {
  const fields = fieldsOf(lsid);
  const id = fields.find(({ name }) => name === 'id');
  for (const { name } of fields)
    if (name !== 'id' && name !== 'uid')
      throw new CommandError(40415, `BSON field 'OperationSessionInfo.lsid.${name}' is an unknown field.`);
  if (!id) throw new CommandError(40414, "BSON field 'OperationSessionInfo.lsid.id' is missing but a required field");
  const body = bodyOf(id);
  if (id.type !== Type.binary || body.length !== 21 || body[4] !== 4)
    throw new CommandError(14, "BSON field 'OperationSessionInfo.lsid.id' is the wrong type, expected a UUID");
  return Buffer.from(body.subarray(5));
}

/** Namespace named by the first field of a command. Errors: 73. */
export function namespaceOf(request: Request): string {
  const field = request.fields.get(request.name)!;
  if (field.type !== Type.string) throw new CommandError(73, `collection name has invalid type ${typeName(field)}`);
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
  if (collection.startsWith('system.')) throw notImplemented(73, `the collection '${namespace}'`);
  return namespace;
}

/** Refuses document sequences that belong to no argument. Errors: 40415. */
export function checkSequences(request: Request, known: string | undefined): void {
  for (const name of request.message.sequences.keys())
    if (name !== known) throw new CommandError(40415, `BSON field '${request.name}.${name}' is an unknown field.`);
}
