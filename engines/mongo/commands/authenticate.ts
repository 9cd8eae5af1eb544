/** saslStart, saslContinue and the guess in a hello: a client proves that it knows the secret of this start. */
import { Binary } from 'bson';
import { encode } from '../bson/encode.js';
import { bodyOf, type Field, fieldsByName, Type } from '../bson/value.js';
import { CommandError, requireType } from '../errors.js';
import { converse } from '../scram.js';
import { Arguments, argumentsOf } from './arguments.js';
import type { Engine } from './engine.js';
import type { Connection, Request } from './request.js';

/** The one user there is, and the database that knows of it. */
export const USER = 'annals';
export const USERS_DATABASE = 'admin';
export const MECHANISM = 'SCRAM-SHA-256';

const START = ['mechanism', 'payload', 'autoAuthorize', 'options'];
const CONVERSATION = 1;
/** Before a binary's content: its length and its subtype. */
const BINARY_HEAD = 5;

const failed = (): CommandError => new CommandError(18, 'Authentication failed.');

/** Errors: 334 for another mechanism, 18 for another user or a malformed message. */
export async function saslStart(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, START);
  if (request.database !== USERS_DATABASE) throw failed();
  return encode(begin(engine, request.connection, args));
}

/** Errors: 17 when nothing was begun, 18 for a wrong proof. */
export async function saslContinue(_engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['conversationId', 'payload']);
  const { connection } = request;
  const { conversation } = connection;
  if (!conversation || args.whole('conversationId') !== CONVERSATION)
    throw new CommandError(17, 'No SASL session state found');
  connection.conversation = undefined;
  const proof = conversation.accept(payloadOf(args));
  if (proof === undefined) throw failed();
  connection.authenticated = true;
  connection.known();
  return encode({ conversationId: CONVERSATION, done: true, payload: new Binary(Buffer.from(proof)) });
}

/** The answer to the first message of an authentication inside a hello; undefined, and no error, for a wrong one. */
export function speculate(engine: Engine, connection: Connection, guess: Field | undefined): object | undefined {
  if (!guess) return undefined;
  try {
    return begin(engine, connection, new Arguments('saslStart', fieldsByName(guess), ['saslStart', 'db', ...START]));
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

function begin(engine: Engine, connection: Connection, args: Arguments): object {
  const mechanism = args.text('mechanism');
  if (mechanism !== MECHANISM)
    throw new CommandError(334, `Received authentication for mechanism ${mechanism} which is not enabled`);
  // The proof is checked in one step; a client that wants an empty last exchange is not one of the two drivers' kind.
  const options = args.object('options');
  const skips = options && new Arguments('options', fieldsByName(options), ['skipEmptyExchange']);
  if (!skips?.flag('skipEmptyExchange', false))
    throw new CommandError(2, 'Only exchanges with skipEmptyExchange are served here');
  const conversation = converse(engine.verifier, USER, payloadOf(args));
  if (!conversation) throw failed();
  connection.conversation = conversation;
  return {
    conversationId: CONVERSATION,
    done: false,
    payload: new Binary(Buffer.from(conversation.challenge)),
  };
}

const payloadOf = (args: Arguments): string =>
  bodyOf(requireType(args.required('payload'), 'payload', Type.binary)).toString('utf8', BINARY_HEAD);
