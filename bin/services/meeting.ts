/** Composes the meeting service. */

import { meetingPolicy } from '../../adapters/http/meeting/policy.js';
import { createCallerDigest, meetingRoutes } from '../../adapters/http/meeting/routes.js';
import { openapiRoute } from '../../adapters/http/server/openapi.js';
import { createRateLimit } from '../../adapters/http/server/rate-limit.js';
import { createWebPage } from '../../adapters/http/server/web-page.js';
import { createBudget } from '../../application/concurrency/index.js';
import { createMeetingAudience } from '../../application/meeting/audience/audience.js';
import { createRoomLookup } from '../../application/meeting/audience/snapshot.js';
import { createIceServers } from '../../application/meeting/ice-servers.js';
import { resumeTokenOf } from '../../application/meeting/join-room.js';
import { countRooms, createRoomMetrics } from '../../application/meeting/room-metrics.js';
import { createRoomPasswords } from '../../application/meeting/room-passwords.js';
import { createMeetingRooms } from '../../application/meeting/rooms.js';
import { iceServersOf, returnMsOf, turnServerOf } from '../../application/meeting/settings.js';
import { catalog } from '../../domain/meeting/catalog.js';
import { relayMembers, type Service } from '../node/service.js';
import { connectMeetingCluster } from './meeting/cluster.js';
import { createRetention, retentionProjections } from './meeting/retention.js';
import { connectSignaling } from './meeting/signaling.js';

const MINUTE_MS = 60_000;
/** Passwords being hashed or queued: fewer than the hashing queue holds, so that other services keep some slots. */
const MAX_HASHING = 40;

export const meeting: Service<typeof catalog> = {
  name: 'meeting',
  catalog,
  projections: retentionProjections,
  port: (values) => values['meeting.port'],
  async connect({ kernel, values, release, metrics, ...context }) {
    const { clock, derivation, projectionProgress } = kernel;
    const audience = createMeetingAudience({ resumeToken: resumeTokenOf(derivation) });
    const relay = await context.relay(audience);
    const roomMetrics = createRoomMetrics(relay.state(), relay.position(), await kernel.head());
    const maxLatentRooms = values['meeting.maxLatentRooms'];
    const hashing = createBudget('meeting.passwords', MAX_HASHING);
    metrics.budget(hashing);
    const passwords = createRoomPasswords({ hashing: kernel.passwords, derivation, budget: hashing });
    const policy = meetingPolicy(release);
    const cluster = await connectMeetingCluster({
      ...context,
      kernel,
      values,
      metrics,
      relay,
      audience,
      census: roomMetrics,
    });
    const callerOf = createCallerDigest(derivation);
    const limitCreates = createRateLimit(values['meeting.createPerMinute'], MINUTE_MS);
    const signaling = connectSignaling({
      ...context,
      kernel,
      values,
      release,
      metrics,
      relay,
      audience,
      census: roomMetrics,
      passwords,
      callerOf,
      limitCreates,
      ...cluster,
    });
    const httpRoutes = meetingRoutes({
      rooms: createMeetingRooms({
        ...kernel,
        passwords,
        roomMetrics,
        maxLatentRooms,
        returnMs: returnMsOf(values),
      }),
      roomMetrics,
      acknowledged: () => projectionProgress.latestOf('meeting'),
      iceServers: createIceServers({ servers: iceServersOf(values), turn: turnServerOf(values), clock }),
      limitCreates,
      callerOf,
      page: createWebPage('meeting'),
      release,
      uptimeMs: () => process.uptime() * 1000,
    });
    const retention = createRetention({ kernel, values, metrics, rooms: relay.state });
    const routes = [...httpRoutes, ...retention.routes, signaling.route];
    return {
      policy,
      signIn: 'no sign-in; creating a room returns a creator token, joining may need its password',
      routes: [...routes, openapiRoute(policy, routes)],
      ...relayMembers(relay),
      handlers: [signaling.onEvent, relay.publish, countRooms(roomMetrics, createRoomLookup(relay.state))],
      close() {
        signaling.close();
        relay.close();
      },
      reactions: retention.reactions,
      periodic: [...cluster.periodic, ...retention.periodic],
    };
  },
};
