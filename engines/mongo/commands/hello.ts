/** Implements hello and isMaster: presents this server as the only member of a replica set. */
import { Long, ObjectId } from 'bson';
import { encode } from '../bson/encode.js';
import { integerOf, longOf } from '../bson/number.js';
import { fieldsOf, isObject, Type, textOf, type Value } from '../bson/value.js';
import { CommandError } from '../errors.js';
import { isTrue } from '../query/filter.js';
import { ELECTION } from '../wire/clock.js';
import { type Arguments, argumentsOf } from './arguments.js';
import { authenticateSpeculatively, MECHANISM, USER, USERS_DATABASE } from './authenticate.js';
import type { Engine } from './engine.js';
import type { Request } from './request.js';

export const SET_NAME = 'annals';
/** Wire version of MongoDB 4.4, the oldest that the driver accepts. */
const MAX_WIRE_VERSION = 9;

/** The topology never changes during the life of the process. */
const TOPOLOGY = { processId: new ObjectId(), counter: Long.fromNumber(6) };

export async function hello(engine: Engine, request: Request): Promise<Buffer> {
  // A handshake offers client capabilities; the server picks some and ignores the rest.
  const args = argumentsOf(request, [...request.fields.keys()]);
  if (nameOf(args) === engine.clientName) request.connection.onTrusted();
  const wait = args.integer('maxAwaitTimeMS');
  const version = args.object('topologyVersion');
  if ((wait === undefined) !== (version === undefined))
    throw new CommandError(
      31368,
      "A request with 'maxAwaitTimeMS' must include 'topologyVersion', and the other way round",
    );
  const current = version && isCurrent(version);
  // In a stream of answers, the first one defines the topology.
  if (wait !== undefined && (current || request.message.repeated)) await elapse(wait, request);
  const now = new Date();
  const opTime = { ts: engine.clock.now(), t: Long.ONE };
  const modern = request.name === 'hello';
  const helloOk = request.fields.get('helloOk');
  const asksForMechanisms = args.text('saslSupportedMechs') === `${USERS_DATABASE}.${USER}`;
  return encode({
    ...(helloOk && isTrue(helloOk) ? { helloOk: true } : {}),
    topologyVersion: TOPOLOGY,
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

/** True if the client already knows this process and its counter. */
function isCurrent(version: Value): boolean {
  const fields = new Map(isObject(version) ? fieldsOf(version).map((field) => [field.name, field]) : []);
  const [process, counter] = [fields.get('processId'), fields.get('counter')];
  if (process?.type !== Type.objectId || counter?.type !== Type.long || integerOf(counter) === undefined)
    throw new CommandError(14, "BSON field 'topologyVersion' is the wrong type");
  const same = process.bytes.subarray(process.start, process.end).equals(TOPOLOGY.processId.id);
  return same && longOf(counter) === TOPOLOGY.counter.toBigInt();
}

/** Resolves after that time, or as soon as the client disconnects. */
function elapse(milliseconds: number, { connection }: Request): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, Math.min(milliseconds, 2 ** 31 - 1));
    connection.waiting = finish;
    function finish(): void {
      clearTimeout(timer);
      connection.waiting = undefined;
      resolve();
    }
  });
}
