/** Tells drivers which calls are served: `ServerFeatures/GetSupportedMethods`. */
import { type Handler, unary } from '../wire/grpc.js';
import { field, message } from '../wire/protobuf.js';

/** Version of the server that the engine imitates. */
const VERSION = '23.10.6';

const METHODS: readonly (readonly [service: string, method: string, ...features: string[]])[] = [
  ['event_store.client.streams.streams', 'read', 'position', 'events'],
  ['event_store.client.streams.streams', 'tombstone'],
  ['event_store.client.streams.streams', 'batchappend', 'deadline_duration'],
  ['event_store.client.operations.operations', 'startscavenge'],
  ['event_store.client.server_features.serverfeatures', 'getsupportedmethods'],
];

const supported = message(
  ...METHODS.map(([service, method, ...features]) =>
    field(1, message(field(1, method), field(2, service), ...features.map((feature) => field(3, feature)))),
  ),
  field(2, VERSION),
);

export const featuresHandler: Handler = unary(() => supported);
