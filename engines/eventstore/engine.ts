/**
 * Embedded event store: the part of the EventStoreDB protocol that Annals uses, over a durable log on lmdb.
 *
 * It answers like a real server of version 23.10, except:
 * - Callers must present a secret as their connection name (without TLS the driver sends no credentials).
 * - Features that the application does not use are refused (docs/guide/engines.md lists them).
 * - Slow subscribers are never dropped.
 * - A checkpoint names the last event examined, also during catch-up; the real server may name an earlier one.
 * - A filter on one category skips the others and reports one checkpoint for the skipped range.
 * - A scavenge also removes a stream's last event if it can no longer be read.
 */
import type { HeldPort } from '../supervisor/held-port.js';
import { createRecentIds, writeMetadata } from './log/append.js';
import { type EventLog, openEventLog } from './log/event-log.js';
import { batchAppendHandler, createAppender } from './services/appending.js';
import { featuresHandler } from './services/features.js';
import { read } from './services/reading.js';
import { HISTORY_AGE, openScavenger } from './services/scavenging.js';
import { subscribe } from './services/subscribing.js';
import { tombstoneHandler } from './services/tombstoning.js';
import { admitBySecret, secretParameter } from './wire/admission.js';
import { toGrpcError } from './wire/failures.js';
import { type GrpcServer, type Handler, serveGrpc, single } from './wire/grpc.js';
import { decodeRead } from './wire/read-request.js';

/** The method that the driver calls before it sends its connection name. */
const FEATURES = '/event_store.client.server_features.ServerFeatures/GetSupportedMethods';

/**
 * Starts the engine over the store in `directory`, which no other process may have open. Listens on 127.0.0.1; port 0
 * picks a free one.
 * @param options.onFatal Called when the store can no longer be written. The engine then refuses everything and should
 * be stopped.
 * @param options.onDamaged Called with the position of each damaged event when it is first found.
 */
export async function startEventStoreEngine(options: {
  directory: string;
  port?: number | HeldPort;
  /** Secret that callers must present, in visible ASCII. */
  secret: string;
  onFatal?: (error: Error) => void;
  onDamaged?: (position: number) => void;
}) {
  const recent = createRecentIds();
  const log = openEventLog(options.directory, options.onFatal ?? (() => {}), options.onDamaged, () => recent.clear());
  await writeBirth(log);
  const isNew = log.head().nextOrdinal <= BIRTH;
  const append = createAppender(log, recent);
  const scavenger = await openScavenger(log, recent);
  const handlers = new Map<string, Handler>([
    ['/event_store.client.streams.Streams/Read', readHandler(log)],
    ['/event_store.client.streams.Streams/BatchAppend', batchAppendHandler(append)],
    ['/event_store.client.streams.Streams/Tombstone', tombstoneHandler(log)],
    ['/event_store.client.operations.Operations/StartScavenge', scavenger.start],
    [FEATURES, featuresHandler],
  ]);
  const admission = admitBySecret(options.secret, FEATURES);
  const serving = serveGrpc(options.port ?? 0, handlers, toGrpcError, admission);
  const server: GrpcServer = await serving.catch(async (error) => {
    await scavenger.close();
    await log.close();
    throw error;
  });
  return {
    /** `esdb://127.0.0.1:PORT?tls=false&connectionName=SECRET` */
    url: `esdb://127.0.0.1:${server.port}?tls=false&${secretParameter(options.secret)}`,
    port: server.port,
    held: server.held,
    /** True if nothing has ever been written to it. */
    isNew,
    /** Ends all connections, completes pending writes and closes the store. */
    async stop() {
      await server.close();
      await scavenger.close();
      await log.close();
    },
  };
}

/** Number of events in a new log. */
const BIRTH = 1;

/** Writes the first event of a new log, so that a log is never empty: the retention of the scavenge history. */
async function writeBirth(log: EventLog): Promise<void> {
  if (log.head().position > 0) return;
  const metadata = Buffer.from(JSON.stringify({ $maxAge: HISTORY_AGE }));
  await log.submit((now) => writeMetadata(log, '$scavenges', metadata, now));
}

const readHandler = (log: EventLog): Handler =>
  single(async (bytes, call) => {
    const request = decodeRead(bytes);
    if (request.count === undefined) await subscribe(log, call, request);
    else await read(log, call, request, Number(request.count));
  });
