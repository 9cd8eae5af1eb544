/** The meeting service, put together. */
import { createLimit } from '../../adapters/http/kernel/limit.js';
import { openapiRoute } from '../../adapters/http/kernel/openapi.js';
import { meetingPolicy } from '../../adapters/http/meeting/policy.js';
import { meetingRoutes } from '../../adapters/http/meeting/routes.js';
import { createMeetingAudience } from '../../adapters/relay/meeting.js';
import type { LiveEvent } from '../../application/follow/live-event.js';
import { toEach } from '../../application/follow/to-each.js';
import { createCensus } from '../../application/meeting/census.js';
import { createIceServers } from '../../application/meeting/ice.js';
import { createMeetingRooms } from '../../application/meeting/rooms.js';
import { iceServersOf, turnOf } from '../../application/meeting/settings.js';
import { catalog } from '../../domain/meeting/catalog.js';
import { relayed, type Service } from '../node/service.js';

const MINUTE_MS = 60_000;

export const meeting: Service<typeof catalog> = {
  name: 'meeting',
  catalog,
  projections: [],
  port: (values) => values['meeting.port'],
  async connect({ kernel, values, release, ...context }) {
    const { clock, derivation, settled } = kernel;
    const resumeToken = (participantId: string) =>
      derivation.secret('meeting.resume', participantId).toString('base64url');
    const relay = await context.relay(createMeetingAudience({ resumeToken }));
    const census = createCensus(relay.state(), relay.position());
    const maxLatentRooms = values['meeting.maxLatentRooms'];
    const policy = meetingPolicy(release);
    const routes = meetingRoutes({
      rooms: createMeetingRooms({ ...kernel, hashing: kernel.passwords, census, maxLatentRooms }),
      census,
      acknowledged: () => settled.latestOf('meeting'),
      iceServers: createIceServers({ servers: iceServersOf(values), turn: turnOf(values), clock }),
      limitCreates: createLimit(values['meeting.createPerMinute'], MINUTE_MS),
      release,
      uptimeMs: () => process.uptime() * 1000,
    });
    return {
      policy,
      signIn: 'no sign-in: who makes a room gets a creator token, who enters one gives its password',
      routes: [...routes, openapiRoute(policy, routes)],
      ...relayed(relay),
      publish: toEach<LiveEvent<typeof catalog>>(
        relay.publish,
        (event) => {
          if (event.type === 'ProjectionSwitched') return;
          const { roomId } = event.data;
          census.see(roomId, relay.state().get(roomId));
        },
        ({ position }) => census.hear(position),
      ),
      reactions: [],
      periodic: [],
    };
  },
};
