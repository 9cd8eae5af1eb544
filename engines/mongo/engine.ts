/**
 * The embedded MongoDB: a server on the loopback that the official driver takes for a one-member replica set.
 *
 * It answers as a real server of 4.4 does, or refuses with a message that says what it does not implement: regular
 * expressions, `$elemMatch`, positions inside paths, pipelines other than the counting one, transactions. Without a
 * sort documents come in the order of `_id`, on which nobody may rely.
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
import { SortRoom } from './query/sort.js';
import { createVerifier } from './scram.js';
import { Catalog } from './storage/catalog.js';
import { Documents } from './storage/collection.js';
import { Sessions } from './storage/sessions.js';
import { expire } from './ttl.js';
import { Clock } from './wire/clock.js';

/** How often old documents, sessions and cursors are looked for. */
const HOUSEKEEPING_MS = 60_000;

export interface MongoEngine {
  /** `mongodb://annals:<secret>@127.0.0.1:<port>/?replicaSet=annals&authSource=admin&appName=<name>` */
  readonly url: string;
  readonly port: number;
  readonly held: HeldPort;
  /** Nobody has ever stored anything in it. */
  readonly isNew: boolean;
  /** Finishes what is being written, closes all connections and the store. */
  stop(): Promise<void>;
}

export interface MongoEngineOptions {
  /** Where the store is; it is made when it is not there. Only one process may have it open. */
  readonly directory: string;
  /** The password of the one user; clients must know it. */
  readonly secret: string;
  /** 0, the default, for a free one. */
  readonly port?: number | HeldPort;
  /** Told when a write could not be made durable; the engine then refuses all further ones and should be restarted. */
  readonly onFatal?: (error: Error) => void;
  /** How often TTL indexes are acted upon, in milliseconds; a minute as on the real server. */
  readonly housekeepingMs?: number;
}

/** Opens the store and listens on 127.0.0.1. Errors: those of the file system and of a port in use. */
export async function startMongoEngine(options: MongoEngineOptions): Promise<MongoEngine> {
  const catalog = new Catalog(options.directory, options.onFatal ?? (() => undefined));
  const isNew = catalog.isNew();
  const engine: Engine = {
    catalog,
    documents: new Documents(catalog.store, catalog),
    sessions: new Sessions(catalog.store),
    clock: new Clock(),
    cursors: new Cursors(),
    sorting: new SortRoom(),
    startedAt: Date.now(),
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
      known: () => limit.markAuthenticated(socket),
      called: () => void limit.countCall(socket),
    });
  });
  const port = await listenOn(server, options.port ?? 0).catch(async (error) => {
    await catalog.close();
    throw error;
  });
  engine.address = `127.0.0.1:${port}`;
  const parameters = `replicaSet=${SET_NAME}&authSource=admin&appName=${engine.clientName}`;
  const stopKeeping = keepHouse(engine, options.housekeepingMs ?? HOUSEKEEPING_MS);
  return {
    url: `mongodb://${USER}:${encodeURIComponent(options.secret)}@${engine.address}/?${parameters}`,
    port,
    held: heldPortOf(server),
    isNew,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await Promise.all([closed, stopKeeping()]);
      await catalog.close();
    },
  };
}

/** Nobody else can guess it, and it gives the secret away to nobody; it admits to nothing. */
const clientNameOf = (secret: string): string =>
  `annals-${createHmac('sha256', secret).update('name of a client').digest('base64url').slice(0, 22)}`;

/** Expires documents, sessions and cursors from time to time; the answer stops it and waits for its end. */
function keepHouse(engine: Engine, interval: number): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    engine.cursors.sweep();
    engine.catalog.sweep();
    // A failure here is one of the store, which reports it itself.
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
