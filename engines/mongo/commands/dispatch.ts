/** Dispatches messages to commands and converts every error into an answer. */
import { Double } from 'bson';
import { encode } from '../bson/encode.js';
import { CommandError, damaged } from '../errors.js';
import { isPageDamaged } from '../storage/store.js';
import type { Message } from '../wire/message.js';
import { aggregate } from './aggregate.js';
import { saslContinue, saslStart } from './authenticate.js';
import { duplicateOf } from './batch.js';
import { create, drop, dropDatabase, listCollections } from './collections.js';
import type { Engine } from './engine.js';
import { findAndModify } from './findAndModify.js';
import { hello } from './hello.js';
import { createIndexes, listIndexes } from './indexes.js';
import { buildInfo, endSessions, ping, serverStatus } from './info.js';
import { count, find, getMore, killCursors } from './read.js';
import { type Connection, checkSequences, namespaceOf, type Request, readRequest } from './request.js';
import { insert, remove, update } from './write.js';

type Handler = (engine: Engine, request: Request) => Promise<Buffer>;

const COMMANDS = new Map<string, Handler>([
  ['aggregate', aggregate],
  ['buildInfo', buildInfo],
  ['count', count],
  ['create', create],
  ['createIndexes', createIndexes],
  ['delete', remove],
  ['drop', drop],
  ['dropDatabase', dropDatabase],
  ['endSessions', endSessions],
  ['find', find],
  ['findAndModify', findAndModify],
  ['getMore', getMore],
  ['hello', hello],
  ['insert', insert],
  ['isMaster', hello],
  ['ismaster', hello],
  ['killCursors', killCursors],
  ['listCollections', listCollections],
  ['listIndexes', listIndexes],
  ['ping', ping],
  ['saslContinue', saslContinue],
  ['saslStart', saslStart],
  ['serverStatus', serverStatus],
  ['update', update],
]);

/** Commands that accept document sequences. */
const SEQUENCED = new Set(['insert', 'update', 'delete', 'createIndexes']);
/** Commands that may be retried and so may carry a txnNumber. */
const RETRYABLE = new Set(['insert', 'update', 'delete', 'findAndModify']);

/** Commands that change stored data. */
const WRITE_HANDLERS = new Set<Handler>([
  create,
  createIndexes,
  drop,
  dropDatabase,
  findAndModify,
  insert,
  remove,
  update,
]);

/** Commands allowed before authentication; none of them touches the store. */
const UNAUTHENTICATED = new Set([hello, ping, saslContinue, saslStart]);

/** Fields of an answer, and whether the command succeeded. */
export interface Answer {
  readonly body: Buffer;
  readonly ok: boolean;
}

export async function answer(engine: Engine, message: Message, connection: Connection): Promise<Answer> {
  try {
    const request = readRequest(message, connection);
    const handler = COMMANDS.get(request.name);
    if (!handler) throw new CommandError(59, `no such command: '${request.name}'`);
    if (!connection.authenticated && !UNAUTHENTICATED.has(handler))
      throw new CommandError(13, `command ${request.name} requires authentication`);
    if (message.legacy && handler !== hello)
      throw new CommandError(352, `Unsupported OP_QUERY command: ${request.name}`);
    if (!SEQUENCED.has(request.name)) checkSequences(request, undefined);
    if (request.txnNumber !== undefined && !RETRYABLE.has(request.name))
      throw new CommandError(
        50768,
        'txnNumber may only be provided for multi-document transactions and retryable write commands.',
      );
    return { body: await runCounted(engine, handler, request), ok: true };
  } catch (error) {
    if (!isPageDamaged(error)) return failure(error);
    // A read transaction that met a damaged page cannot read anything else.
    engine.catalog.store.refresh();
    return failure(damaged(describeTarget(message, connection)));
  }
}

/** Runs a command and counts it as active while it uses the store. */
async function runCounted(engine: Engine, handler: Handler, request: Request): Promise<Buffer> {
  if (UNAUTHENTICATED.has(handler) || handler === serverStatus) return handler(engine, request);
  const kind = WRITE_HANDLERS.has(handler) ? 'writers' : 'readers';
  engine.active[kind]++;
  try {
    return await handler(engine, request);
  } finally {
    engine.active[kind]--;
  }
}

/** Collection of a command, for error messages. */
function describeTarget(message: Message, connection: Connection): string {
  try {
    return namespaceOf(readRequest(message, connection));
  } catch {
    return 'the store';
  }
}

/** Answers a failed command. Any error but a `CommandError` is an internal error. */
export function failure(error: unknown): Answer {
  const commandError =
    error instanceof CommandError
      ? error
      : new CommandError(1, `internal error: ${error instanceof Error ? error.message : error}`);
  const body = encode({
    ok: new Double(0),
    errmsg: commandError.message,
    code: commandError.code,
    codeName: commandError.codeName,
    ...duplicateOf(commandError),
  });
  return { body, ok: false };
}
