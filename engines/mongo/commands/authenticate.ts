/** Implements saslStart, saslContinue and the speculative authentication inside hello. */
import { Binary } from 'bson';
import { encode } from '../bson/encode.js';
import { bodyOf, type Field, fieldsByName, Type } from '../bson/value.js';
import { CommandError, requireType } from '../errors.js';
import { startConversation } from '../scram.js';
import { Arguments, argumentsOf } from './arguments.js';
import type { Engine } from './engine.js';
import type { Connection, Request } from './request.js';

/** The only user, and the database that users authenticate against. */
export const USER = 'annals';
export const USERS_DATABASE = 'admin';
export const MECHANISM = 'SCRAM-SHA-256';

const START = ['mechanism', 'payload', 'autoAuthorize', 'options'];
const CONVERSATION = 1;
/** Bytes before the content of a binary: length and subtype. */
const BINARY_HEAD = 5;

const authenticationFailed = (): CommandError => new CommandError(18, 'Authentication failed.');

/** Errors: 334 for another mechanism, 18 for another user or a malformed message. */
export async function saslStart(engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, START);
  if (request.database !== USERS_DATABASE) throw authenticationFailed();
  return encode(startAuthentication(engine, request.connection, args));
}

/** Errors: 17 if no conversation was started, 18 for a wrong proof. */
export async function saslContinue(_engine: Engine, request: Request): Promise<Buffer> {
  const args = argumentsOf(request, ['conversationId', 'payload']);
  const { connection } = request;
  const { conversation } = connection;
  if (!conversation || args.integer('conversationId') !== CONVERSATION)
    throw new CommandError(17, 'No SASL session state found');
  connection.conversation = undefined;
  const proof = conversation.accept(payloadOf(args));
  if (proof === undefined) throw authenticationFailed();
  connection.authenticated = true;
  connection.onTrusted();
  return encode({ conversationId: CONVERSATION, done: true, payload: new Binary(Buffer.from(proof)) });
}

/** Answers the authentication message inside a hello; undefined if it is wrong. */
export function authenticateSpeculatively(
  engine: Engine,
  connection: Connection,
  guess: Field | undefined,
): object | undefined {
  if (!guess) return undefined;
  try {
    return startAuthentication(
      engine,
      connection,
      new Arguments('saslStart', fieldsByName(guess), ['saslStart', 'db', ...START]),
    );
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

function startAuthentication(engine: Engine, connection: Connection, args: Arguments): object {
  const mechanism = args.text('mechanism');
  if (mechanism !== MECHANISM)
    throw new CommandError(334, `Received authentication for mechanism ${mechanism} which is not enabled`);
  // The proof is checked in one step. Both supported drivers skip the empty final exchange.
  const options = args.object('options');
  const skipOptions = options && new Arguments('options', fieldsByName(options), ['skipEmptyExchange']);
  if (!skipOptions?.flag('skipEmptyExchange', false))
    throw new CommandError(2, 'Only exchanges with skipEmptyExchange are served here');
  const conversation = startConversation(engine.verifier, USER, payloadOf(args));
  if (!conversation) throw authenticationFailed();
  connection.conversation = conversation;
  return {
    conversationId: CONVERSATION,
    done: false,
    payload: new Binary(Buffer.from(conversation.challenge)),
  };
}

const payloadOf = (args: Arguments): string =>
  bodyOf(requireType(args.required('payload'), 'payload', Type.binary)).toString('utf8', BINARY_HEAD);
