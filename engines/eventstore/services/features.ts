/** Describes the engine to drivers: `ServerFeatures/GetSupportedMethods` and `Gossip/Read`. */
import { type Handler, unary } from '../wire/grpc.js';
import { field, message, numberField } from '../wire/protobuf.js';

/** Version of the server that the engine imitates. */
const VERSION = '23.10.6';

const METHODS: readonly (readonly [service: string, method: string, ...features: string[]])[] = [
  ['event_store.client.streams.streams', 'read', 'position', 'events'],
  ['event_store.client.streams.streams', 'delete'],
  ['event_store.client.streams.streams', 'tombstone'],
  ['event_store.client.streams.streams', 'batchappend', 'deadline_duration'],
  ['event_store.client.operations.operations', 'startscavenge'],
  ['event_store.client.gossip.gossip', 'read'],
  ['event_store.client.server_features.serverfeatures', 'getsupportedmethods'],
];

const supported = message(
  ...METHODS.map(([service, method, ...features]) =>
    field(1, message(field(1, method), field(2, service), ...features.map((feature) => field(3, feature)))),
  ),
  field(2, VERSION),
);

export const featuresHandler: Handler = unary(() => supported);

const LEADER = 8;
/** .NET ticks are 100 ns. */
const TICKS_PER_MS = 10_000n;

/** Reports a cluster of one member: this engine, as leader. */
export const gossipHandler = (instanceId: Buffer, port: () => number): Handler =>
  unary(() => {
    const high = instanceId.readBigInt64BE(0);
    const low = instanceId.readBigInt64BE(8);
    const member = message(
      field(1, field(1, message(numberField(1, high), numberField(2, low)))),
      numberField(2, BigInt(Date.now()) * TICKS_PER_MS),
      numberField(3, LEADER),
      numberField(4, 1),
      field(5, message(field(1, '127.0.0.1'), numberField(2, port()))),
    );
    return field(1, member);
  });
