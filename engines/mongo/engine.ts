/**
 * Embedded MongoDB: a loopback server that the official driver takes for a replica set with one member.
 *
 * It answers like a real server of version 4.4 and refuses unsupported features with a message that names them
 * (docs/guide/engines.md lists them).
 * Without a sort, documents come in the order of `_id`; do not rely on that.
 */
import { createHmac } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { type HeldPort, heldPortOf, listenOn } from '../supervisor/held-port.js';
import { createUnauthenticatedLimit } from '../supervisor/unauthenticated-limit.js';
import { USER } from './commands/authenticate.js';
import { Cursors } from './commands/cursors.js';
import type { Engine } from './commands/engine.js';
import { SET_NAME } from './commands/hello.js';
import { serve } from './connection.js';
import { SortMemory } from './query/sort.js';
import { createVerifier } from './scram.js';
import { Catalog } from './storage/catalog.js';
import { Documents } from './storage/collection.js';
import { Sessions } from './storage/sessions.js';
import { expire } from './ttl.js';
import { Clock } from './wire/clock.js';

/** Milliseconds between removals of expired documents, sessions and cursors. */
const HOUSEKEEPING_MS = 60_000;

export interface MongoEngineOptions {
  /** Directory of the store, created if missing. Only one process may have it open. */
  readonly directory: string;
  /** Password of the only user. */
  readonly secret: string;
  /** Port, or a listening handle; 0, the default, picks a free port. */
  readonly port?: number | HeldPort;
  /** Called when a write could not be made durable. The engine then refuses further writes and should be restarted. */
  readonly onFatal?: (error: Error) => void;
  /** Milliseconds between checks of TTL indexes; a minute, as on the real server. */
  readonly housekeepingMs?: number;
}

/** Opens the store and listens on 127.0.0.1. Rejects on file system errors and if the port is in use. */
export async function startMongoEngine(options: MongoEngineOptions) {
  const catalog = new Catalog(options.directory, options.onFatal ?? (() => undefined));
  const isNew = catalog.isNew();
  const engine: Engine = {
    catalog,
    documents: new Documents(catalog.store, catalog),
    sessions: new Sessions(catalog.store),
    clock: new Clock(),
    cursors: new Cursors(),
    sortMemory: new SortMemory(),
    verifier: createVerifier(options.secret),
    clientName: clientNameOf(options.secret),
    address: '',
    connections: 0,
    active: { readers: 0, writers: 0 },
  };
  const sockets = new Set<Socket>();
  const limit = createUnauthenticatedLimit<Socket>(
    ({ bytesRead }) => bytesRead,
    (socket) => void socket.destroy(),
  );
  let connections = 0;
  const server = createServer((socket) => {
    if (!limit.admit()) return void socket.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    limit.add(socket);
    serve(engine, socket, ++connections, {
      onTrusted: () => limit.markAuthenticated(socket),
      onMessage: () => void limit.countCall(socket),
    });
  });
  const port = await listenOn(server, options.port ?? 0).catch(async (error) => {
    await catalog.close();
    throw error;
  });
  engine.address = `127.0.0.1:${port}`;
  const parameters = `replicaSet=${SET_NAME}&authSource=admin&appName=${engine.clientName}`;
  const stopHousekeeping = startHousekeeping(engine, options.housekeepingMs ?? HOUSEKEEPING_MS);
  return {
    /** `mongodb://annals:<secret>@127.0.0.1:<port>/?replicaSet=annals&authSource=admin&appName=<name>` */
    url: `mongodb://${USER}:${encodeURIComponent(options.secret)}@${engine.address}/?${parameters}`,
    port,
    held: heldPortOf(server),
    /** True if nothing has ever been stored. */
    isNew,
    /** Completes pending writes, then closes all connections and the store. */
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await Promise.all([closed, stopHousekeeping()]);
      await catalog.close();
    },
  };
}

/** Client name that only holders of the secret can compute, and that does not reveal it. It grants no access. */
const clientNameOf = (secret: string): string =>
  `annals-${createHmac('sha256', secret).update('name of a client').digest('base64url').slice(0, 22)}`;

/** Expires documents, sessions and cursors periodically. Returns a function that stops this and waits for its end. */
function startHousekeeping(engine: Engine, interval: number): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    engine.cursors.sweep();
    engine.catalog.sweep();
    // The store itself reports its failures.
    running = running
      .then(() => expire(engine))
      .then(() => engine.sessions.sweep())
      .catch(() => undefined);
  }, interval);
  timer.unref();
  return () => {
    clearInterval(timer);
    return running;
  };
}
