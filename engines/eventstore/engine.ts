/**
 * The embedded event store: the EventStoreDB protocol, as far as Annals uses it, over a durable log on lmdb.
 *
 * It answers as a real server of 23.10 does, but for these: who calls must show a secret as the name of the connection
 * (without TLS the driver sends no credentials); links are not resolved, ids are text, reads of $all take no filter and
 * filters no regular expressions (UNIMPLEMENTED); unknown fields, appends of nothing and the deletion of
 * metadata are refused; subscribers are never dropped for being slow; a checkpoint names the last event looked at, in
 * history too, where the real server may name an earlier one; a filter on one category skips the others and reports
 * one checkpoint for what it skipped; a scavenge removes a stream's last event too when it may not be read.
 */
import { randomUUID } from 'node:crypto';
import type { HeldPort } from '../supervisor/held-port.js';
import { rememberIds, writeMetadata } from './log/append.js';
import { softDelete, tombstone } from './log/delete-stream.js';
import { type EventLog, openEventLog } from './log/event-log.js';
import { appendHandler, batchAppendHandler, openAppender } from './services/appending.js';
import { featuresHandler, gossipHandler } from './services/features.js';
import { read } from './services/reading.js';
import { removalHandler } from './services/removing.js';
import { HISTORY_AGE, openScavenger } from './services/scavenging.js';
import { subscribe } from './services/subscribing.js';
import { admitBySecret, secretParameter } from './wire/admission.js';
import { toGrpcError } from './wire/failures.js';
import { type GrpcServer, type Handler, serveGrpc, single } from './wire/grpc.js';
import { decodeRead } from './wire/read-request.js';
import { parseUuid } from './wire/uuid.js';

/** What the driver asks before it says who it is. */
const FEATURES = '/event_store.client.server_features.ServerFeatures/GetSupportedMethods';
const GOSSIP = '/event_store.client.gossip.Gossip/Read';

export interface EventStoreEngine {
  /** `esdb://127.0.0.1:PORT?tls=false&connectionName=SECRET` */
  readonly url: string;
  readonly port: number;
  readonly held: HeldPort;
  /** Nobody has ever written to it. */
  readonly isNew: boolean;
  /** Ends every connection, finishes what waits for a flush and closes the store. */
  stop(): Promise<void>;
}

/**
 * Starts the engine over the store in `directory`, which no other process may have open. Listens on 127.0.0.1 only;
 * port 0 means a free one. `onFatal` is told when the store cannot be written any more; the engine then refuses
 * everything and should be stopped. `onDamaged` is told the position of each event that is damaged, when it is met.
 */
export async function startEventStoreEngine(options: {
  directory: string;
  port?: number | HeldPort;
  /** Visible ASCII that callers must show. */
  secret: string;
  onFatal?: (error: Error) => void;
  onDamaged?: (position: number) => void;
}): Promise<EventStoreEngine> {
  const recent = rememberIds();
  const log = openEventLog(options.directory, options.onFatal ?? (() => {}), options.onDamaged, () => recent.clear());
  await writeBirth(log);
  const isNew = log.head().nextOrdinal <= BIRTH;
  const append = openAppender(log, recent);
  const scavenger = await openScavenger(log, recent);
  const handlers = new Map<string, Handler>([
    ['/event_store.client.streams.Streams/Read', readHandler(log)],
    ['/event_store.client.streams.Streams/Append', appendHandler(append)],
    ['/event_store.client.streams.Streams/BatchAppend', batchAppendHandler(append)],
    ['/event_store.client.streams.Streams/Delete', removalHandler(log, softDelete)],
    ['/event_store.client.streams.Streams/Tombstone', removalHandler(log, tombstone)],
    ['/event_store.client.operations.Operations/StartScavenge', scavenger.start],
    ['/event_store.client.operations.Operations/StopScavenge', scavenger.stop],
    [FEATURES, featuresHandler],
    [GOSSIP, gossipHandler(parseUuid(randomUUID()), () => server.port)],
  ]);
  const admission = admitBySecret(options.secret, new Set([FEATURES, GOSSIP]));
  const serving = serveGrpc(options.port ?? 0, handlers, toGrpcError, admission);
  const server: GrpcServer = await serving.catch(async (error) => {
    await scavenger.close();
    await log.close();
    throw error;
  });
  return {
    url: `esdb://127.0.0.1:${server.port}?tls=false&${secretParameter(options.secret)}`,
    port: server.port,
    held: server.held,
    isNew,
    async stop() {
      await server.close();
      await scavenger.close();
      await log.close();
    },
  };
}

/** Events that a log is born with. */
const BIRTH = 1;

/** A log is never empty: its first event keeps the history of scavenges for 30 days. */
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
