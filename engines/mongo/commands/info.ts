/** Implements ping, endSessions, serverStatus and buildInfo. */
import { encode } from '../bson/encode.js';
import { isObject } from '../bson/value.js';
import { CommandError } from '../errors.js';
import { argumentsOf } from './arguments.js';
import type { Engine } from './engine.js';
import { type Request, sessionId } from './request.js';

type Handler = (engine: Engine, request: Request) => Promise<Buffer>;

/** `ping` accepts any arguments. */
export const ping: Handler = async () => encode({});

/** Accepts the ids and does nothing: sessions only hold the results of retryable writes, which expire on their own. */
export const endSessions: Handler = async (_engine, request) => {
  const args = argumentsOf(request, []);
  for (const session of args.array(request.name) ?? []) {
    if (!isObject(session)) throw new CommandError(14, `BSON field '${request.name}' must hold objects`);
    sessionId(session);
  }
  return encode({});
};

/** Reports the version of the server that the engine imitates; other members are left out. */
export const buildInfo: Handler = async (_engine, request) => {
  argumentsOf(request, []);
  return encode({ version: '4.4.6', versionArray: [4, 4, 6, 0] });
};

/** Reports open connections and running commands; other members are left out. */
export const serverStatus: Handler = async (engine, request) => {
  const { readers, writers } = engine.active;
  argumentsOf(request, [...request.fields.keys()]);
  return encode({
    connections: { current: engine.connections, available: 10_000 },
    globalLock: { activeClients: { total: readers + writers, readers, writers } },
  });
};
