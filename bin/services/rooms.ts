/** Composes the room service. */
import { roomsPolicy } from '../../adapters/http/rooms/policy.js';
import { roomsRoutes } from '../../adapters/http/rooms/routes.js';
import { createRateLimit } from '../../adapters/http/server/client-network.js';
import { openapiRoute } from '../../adapters/http/server/openapi.js';
import { pageRoutes } from '../../adapters/http/server/web-page.js';
import { rooms as audience } from '../../application/rooms/audience.js';
import { createRoomAuthenticator } from '../../application/rooms/authenticate.js';
import { createRoomCommands } from '../../application/rooms/commands.js';
import { eraseReaction } from '../../application/rooms/erase-room-reaction.js';
import { createRoomExpiry, SWEEP_EVERY_MS } from '../../application/rooms/expire-rooms.js';
import { createRoomCache, createRoomQueries } from '../../application/rooms/queries.js';
import { relayMembers, type Service } from '../node/service.js';
import { rooms as definition } from './definitions/rooms.js';

const HOUR_MS = 3_600_000;

export const rooms: Service<typeof definition.catalog> = {
  ...definition,
  port: (values) => values['rooms.port'],
  async connect({ kernel, values, release, metrics, ...context }) {
    const { clock } = kernel;
    const ports = { ...kernel, context: kernel.systemContext };
    const relay = await context.relay(audience);
    const roomCache = createRoomCache(kernel.aggregates);
    metrics.cache(roomCache.cache);
    const policy = roomsPolicy(release, values['rooms.allowedOrigins']);
    const apiRoutes = roomsRoutes({
      authenticator: createRoomAuthenticator(ports),
      commands: createRoomCommands(ports),
      queries: createRoomQueries({ ...ports, cache: roomCache, livePosition: relay.position }),
      relay,
      limitCreates: createRateLimit(values['rooms.createPerHour'], HOUR_MS),
      minTtlMs: values['rooms.minTtlMs'],
      maxTtlMs: values['rooms.maxTtlMs'],
    });
    const routes = [...apiRoutes, ...pageRoutes('rooms', 'The encrypted rooms page')];
    return {
      policy,
      signIn: 'no sign-in; creating a room or joining by invite returns a session token',
      routes: [...routes, openapiRoute(policy, routes)],
      ...relayMembers(relay),
      handlers: [relay.publish, roomCache.onEvent],
      reactions: [eraseReaction(ports)],
      periodic: [{ name: 'rooms.sweep', everyMs: SWEEP_EVERY_MS, run: createRoomExpiry(ports), mayRun: clock.inSync }],
    };
  },
};
