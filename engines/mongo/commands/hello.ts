/**
 * Implements hello and isMaster: presents this server as the only member of a replica set. Without a topology version
 * drivers ask again from time to time instead of awaiting changes, which never happen.
 */
import { Long } from 'bson';
import { encode } from '../bson/encode.js';
import { fieldsOf, isObject, Type, textOf, type Value } from '../bson/value.js';
import { isTrue } from '../query/filter.js';
import { ELECTION } from '../wire/clock.js';
import { type Arguments, argumentsOf } from './arguments.js';
import { authenticateSpeculatively, MECHANISM, USER, USERS_DATABASE } from './authenticate.js';
import type { Engine } from './engine.js';
import type { Request } from './request.js';

export const SET_NAME = 'annals';
/** Wire version of MongoDB 4.4, the oldest that the driver accepts. */
const MAX_WIRE_VERSION = 9;

export async function hello(engine: Engine, request: Request): Promise<Buffer> {
  // A handshake offers client capabilities; the server picks some and ignores the rest.
  const args = argumentsOf(request, [...request.fields.keys()]);
  if (nameOf(args) === engine.clientName) request.connection.onTrusted();
  const now = new Date();
  const opTime = { ts: engine.clock.now(), t: Long.ONE };
  const modern = request.name === 'hello';
  const helloOk = request.fields.get('helloOk');
  const asksForMechanisms = args.text('saslSupportedMechs') === `${USERS_DATABASE}.${USER}`;
  return encode({
    ...(helloOk && isTrue(helloOk) ? { helloOk: true } : {}),
    hosts: [engine.address],
    setName: SET_NAME,
    setVersion: 1,
    ...(modern ? { isWritablePrimary: true } : { ismaster: true }),
    secondary: false,
    primary: engine.address,
    me: engine.address,
    electionId: ELECTION,
    lastWrite: { opTime, lastWriteDate: now, majorityOpTime: opTime, majorityWriteDate: now },
    maxBsonObjectSize: 16_777_216,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    localTime: now,
    logicalSessionTimeoutMinutes: 30,
    connectionId: request.connection.id,
    minWireVersion: 0,
    maxWireVersion: MAX_WIRE_VERSION,
    readOnly: false,
    saslSupportedMechs: asksForMechanisms ? [MECHANISM] : undefined,
    speculativeAuthenticate: authenticateSpeculatively(
      engine,
      request.connection,
      args.object('speculativeAuthenticate'),
    ),
  });
}

/** Name of the client application. */
function nameOf(args: Arguments): string | undefined {
  const [application] = membersOf(args.object('client')).filter(({ name }) => name === 'application');
  const [name] = membersOf(application).filter(({ name }) => name === 'name');
  return name?.type === Type.string ? textOf(name) : undefined;
}

const membersOf = (value: Value | undefined) => (value && isObject(value) ? fieldsOf(value) : []);
