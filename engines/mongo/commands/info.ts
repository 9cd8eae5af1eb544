/** Implements the server inspection commands of clients and shells. */
import { hostname } from 'node:os';
import { Double, Long } from 'bson';
import { encode } from '../bson/encode.js';
import { isObject, Type } from '../bson/value.js';
import { CommandError } from '../errors.js';
import { argumentsOf } from './arguments.js';
import { USER, USERS_DATABASE } from './authenticate.js';
import type { Engine } from './engine.js';
import { SET_NAME } from './hello.js';
import { type Request, sessionId } from './request.js';

type Handler = (engine: Engine, request: Request) => Promise<Buffer>;

/** Version that the engine imitates. */
const VERSION = '4.4.6';

/** `ping` accepts any arguments. */
export const ping: Handler = async () => encode({});

export const buildInfo: Handler = async () =>
  encode({
    version: VERSION,
    gitVersion: 'annals',
    modules: [],
    allocator: 'system',
    javascriptEngine: 'none',
    sysInfo: 'deprecated',
    versionArray: [...VERSION.split('.').map(Number), 0],
    bits: 64,
    debug: false,
    maxBsonObjectSize: 16_777_216,
    storageEngines: ['lmdb'],
  });

/** Accepts the ids and does nothing: sessions only hold the results of retryable writes, which expire on their own. */
export const endSessions: Handler = async (_engine, request) => {
  const args = argumentsOf(request, []);
  for (const session of args.array(request.name) ?? []) {
    if (!isObject(session)) throw new CommandError(14, `BSON field '${request.name}' must hold objects`);
    sessionId(session);
  }
  return encode({});
};

export const connectionStatus: Handler = async (_engine, request) => {
  argumentsOf(request, ['showPrivileges']);
  const authenticatedUsers = request.connection.authenticated ? [{ user: USER, db: USERS_DATABASE }] : [];
  return encode({ authInfo: { authenticatedUsers, authenticatedUserRoles: [] } });
};

export const serverStatus: Handler = async (engine, request) => {
  const uptime = Date.now() - engine.startedAt;
  const { rss, heapUsed } = process.memoryUsage();
  const { readers, writers } = engine.active;
  argumentsOf(request, [...request.fields.keys()]);
  return encode({
    host: hostname(),
    version: VERSION,
    process: 'annals',
    pid: Long.fromNumber(process.pid),
    uptime: new Double(Math.floor(uptime / 1000)),
    uptimeMillis: Long.fromNumber(uptime),
    localTime: new Date(),
    connections: { current: engine.connections, available: 10_000 },
    globalLock: { activeClients: { total: readers + writers, readers, writers } },
    mem: { bits: 64, resident: rss >> 20, virtual: heapUsed >> 20 },
    metrics: { cursor: { open: { total: Long.fromNumber(engine.cursors.size) } } },
    repl: { setName: SET_NAME, ismaster: true, primary: engine.address, me: engine.address },
  });
};

/** Errors: 72 if none of the requested parameters is known. */
export const getParameter: Handler = async (_engine, request) => {
  const args = request.fields;
  const all = args.get('getParameter')?.type === Type.string;
  if (all || args.has('featureCompatibilityVersion'))
    return encode({ featureCompatibilityVersion: { version: '4.4' } });
  throw new CommandError(72, 'no option found to get');
};
