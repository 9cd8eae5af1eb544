/** From a message to its answer: finds the command, runs it, and turns every error into one answer. */
import { Double } from 'bson';
import { encode } from '../bson/encode.js';
import { CommandError, damaged } from '../errors.js';
import { isBroken } from '../storage/store.js';
import type { Message } from '../wire/message.js';
import { aggregate } from './aggregate.js';
import { saslContinue, saslStart } from './authenticate.js';
import { duplicateOf } from './batch.js';
import { create, drop, dropDatabase, listCollections, listDatabases } from './collections.js';
import type { Engine } from './engine.js';
import { explain } from './explain.js';
import { findAndModify } from './findAndModify.js';
import { hello } from './hello.js';
import { createIndexes, dropIndexes, listIndexes } from './indexes.js';
import { buildInfo, connectionStatus, endSessions, getParameter, ping, serverStatus } from './info.js';
import { count, find, getMore, killCursors } from './read.js';
import { type Connection, checkSequences, namespaceOf, type Request, readRequest } from './request.js';
import { insert, remove, update } from './write.js';

type Handler = (engine: Engine, request: Request) => Promise<Buffer>;

const COMMANDS = new Map<string, Handler>([
  ['aggregate', aggregate],
  ['buildInfo', buildInfo],
  ['buildinfo', buildInfo],
  ['connectionStatus', connectionStatus],
  ['count', count],
  ['create', create],
  ['createIndexes', createIndexes],
  ['delete', remove],
  ['drop', drop],
  ['dropDatabase', dropDatabase],
  ['dropIndexes', dropIndexes],
  ['endSessions', endSessions],
  ['explain', explain],
  ['find', find],
  ['findAndModify', findAndModify],
  ['findandmodify', findAndModify],
  ['getMore', getMore],
  ['getParameter', getParameter],
  ['hello', hello],
  ['insert', insert],
  ['isMaster', hello],
  ['ismaster', hello],
  ['killCursors', killCursors],
  ['listCollections', listCollections],
  ['listDatabases', listDatabases],
  ['listIndexes', listIndexes],
  ['ping', ping],
  ['refreshSessions', endSessions],
  ['saslContinue', saslContinue],
  ['saslStart', saslStart],
  ['serverStatus', serverStatus],
  ['update', update],
]);

/** These may carry documents in sequences of their own. */
const SEQUENCED = new Set(['insert', 'update', 'delete', 'createIndexes']);
/** These may be retried, and so may carry a number. */
const RETRYABLE = new Set(['insert', 'update', 'delete', 'findAndModify', 'findandmodify']);

/** These change what is stored. */
const WRITING = new Set<Handler>([
  create,
  createIndexes,
  drop,
  dropDatabase,
  dropIndexes,
  findAndModify,
  insert,
  remove,
  update,
]);

/** What a client may ask before it has authenticated: none of it touches the store. */
const OPEN = new Set([buildInfo, connectionStatus, hello, ping, saslContinue, saslStart]);

/** The answer's own fields, and whether it went well. */
export interface Answer {
  readonly body: Buffer;
  readonly ok: boolean;
}

export async function answer(engine: Engine, message: Message, connection: Connection): Promise<Answer> {
  try {
    const request = readRequest(message, connection);
    const handler = COMMANDS.get(request.name);
    if (!handler) throw new CommandError(59, `no such command: '${request.name}'`);
    if (!connection.authenticated && !OPEN.has(handler))
      throw new CommandError(13, `command ${request.name} requires authentication`);
    if (message.legacy && handler !== hello)
      throw new CommandError(352, `Unsupported OP_QUERY command: ${request.name}`);
    if (!SEQUENCED.has(request.name)) checkSequences(request, undefined);
    if (request.txnNumber !== undefined && !RETRYABLE.has(request.name))
      throw new CommandError(
        50768,
        'txnNumber may only be provided for multi-document transactions and retryable write commands.',
      );
    return { body: await underWay(engine, handler, request), ok: true };
  } catch (error) {
    if (!isBroken(error)) return failure(error);
    // Nothing more can be read in what was being read in.
    engine.catalog.store.refresh();
    return failure(damaged(placeOf(message, connection)));
  }
}

/** Counted while it is at the store, whether or not anybody waits for it. */
async function underWay(engine: Engine, handler: Handler, request: Request): Promise<Buffer> {
  if (OPEN.has(handler) || handler === serverStatus) return handler(engine, request);
  const kind = WRITING.has(handler) ? 'writers' : 'readers';
  engine.active[kind]++;
  try {
    return await handler(engine, request);
  } finally {
    engine.active[kind]--;
  }
}

/** The collection that a command was about, for people. */
function placeOf(message: Message, connection: Connection): string {
  try {
    return namespaceOf(readRequest(message, connection));
  } catch {
    return 'the store';
  }
}

/** The answer to a command that failed. Anything but a refusal is a fault of this engine, and says no more. */
export function failure(error: unknown): Answer {
  const refused =
    error instanceof CommandError
      ? error
      : new CommandError(1, `internal error: ${error instanceof Error ? error.message : error}`);
  const body = encode({
    ok: new Double(0),
    errmsg: refused.message,
    code: refused.code,
    codeName: refused.codeName,
    ...duplicateOf(refused),
  });
  return { body, ok: false };
}
