/** Composes the meeting service. */
import { attendanceRoute, createAttendanceBudget } from '../../adapters/http/meeting/attendance.js';
import { meetingPolicy } from '../../adapters/http/meeting/policy.js';
import { createCallerDigest, meetingRoutes } from '../../adapters/http/meeting/routes.js';
import { createSignaling, createSocketLimit } from '../../adapters/http/meeting/socket-route.js';
import { createRateLimit } from '../../adapters/http/server/client-network.js';
import { openapiRoute } from '../../adapters/http/server/openapi.js';
import { createWebPage } from '../../adapters/http/server/web-page.js';
import { createGroupCommit } from '../../application/command/index.js';
import { createBudget } from '../../application/concurrency/index.js';
import { createAttendance } from '../../application/meeting/attendance.js';
import { createMeetingAudience } from '../../application/meeting/audience/audience.js';
import { createMeetingChat } from '../../application/meeting/chat-messages.js';
import { createClusterSignaling, createLocalSignaling } from '../../application/meeting/cluster-signaling.js';
import {
  createMeetingRetention,
  createRoomSweep,
  SWEEP_EVERY_MS,
} from '../../application/meeting/end-expired-rooms.js';
import { erasureReaction } from '../../application/meeting/erase-meetings.js';
import { createDeadNodeEviction, EVICTION_INTERVAL_MS } from '../../application/meeting/evict-dead-nodes.js';
import { createIceServers } from '../../application/meeting/ice-servers.js';
import { createRoomEntry, resumeTokenOf } from '../../application/meeting/join-room.js';
import { createParticipantActions } from '../../application/meeting/participant-actions.js';
import { createSignalRelay } from '../../application/meeting/relay-signal.js';
import { countRooms, createRoomMetrics } from '../../application/meeting/room-metrics.js';
import { createRoomPasswords } from '../../application/meeting/room-passwords.js';
import { createMeetingRooms } from '../../application/meeting/rooms.js';
import { iceServersOf, returnMsOf, turnServerOf } from '../../application/meeting/settings.js';
import { createSignalCounter } from '../../application/meeting/signal-counter.js';
import { RETENTION_EVERY_MS } from '../../application/subscription/index.js';
import { relayMembers, type Service } from '../node/service.js';
import { meeting as definition } from './definitions/meeting.js';

const MINUTE_MS = 60_000;
/** Passwords being hashed or queued: fewer than the hashing queue holds, so that other services keep some slots. */
const MAX_HASHING = 40;

export const meeting: Service<typeof definition.catalog> = {
  ...definition,
  port: (values) => values['meeting.port'],
  async connect({ kernel, values, release, metrics, logger, signal, ...context }) {
    const { log, clock, derivation, projectionProgress, systemContext } = kernel;
    const returnMs = returnMsOf(values);
    const audience = createMeetingAudience({ resumeToken: resumeTokenOf(derivation) });
    const relay = await context.relay(audience);
    const rooms = relay.state;
    const roomMetrics = createRoomMetrics(relay.state(), relay.position(), await kernel.head());
    const hashing = createBudget('meeting.passwords', MAX_HASHING);
    const passwords = createRoomPasswords({ hashing: kernel.passwords, derivation, budget: hashing });
    const callerOf = createCallerDigest(derivation);
    const limitCreates = createRateLimit(values['meeting.createPerMinute'], MINUTE_MS);
    const limitUnknown = createRateLimit(values['meeting.unknownPerMinute'], MINUTE_MS);

    const cluster = await context.openCluster();
    // Stored with participants to locate them.
    const run = cluster.nodeId;
    const live = createClusterSignaling({
      ...roomMetrics,
      local: createLocalSignaling(relay, audience),
      mesh: cluster,
      rooms,
    });
    const signalCounter = createSignalCounter({
      ...kernel,
      appender: createGroupCommit({ ...kernel, logger }),
      observe: metrics.live('meeting'),
    });
    const chat = createMeetingChat({
      log,
      appender: createGroupCommit({ ...kernel, logger, blocking: true }),
      clock,
      node: kernel.node,
      release,
      retentionSeconds: values['meeting.chatRetentionSeconds'],
      rooms,
    });
    const signaling = createSignaling({
      roomEntry: createRoomEntry({ ...kernel, passwords, rooms, run, returnMs }),
      actions: createParticipantActions({ ...kernel, logger, signal }),
      chat,
      signalRelay: createSignalRelay({ live, rooms, onRelayed: signalCounter.count }),
      relay,
      audience,
      awaitPosition: roomMetrics.awaitPosition,
      socketLimit: createSocketLimit(
        createRateLimit(values['meeting.connectPerMinute'], MINUTE_MS),
        values['meeting.socketsPerAddress'],
        limitUnknown,
      ),
      limitUnknown,
      callerOf,
      limitCreates,
      clock,
      run,
      returnMs,
      systemContext,
      observe: metrics.sockets('meeting'),
    });

    const attendanceBudget = createAttendanceBudget();
    for (const budget of [hashing, chat.waiting, attendanceBudget]) metrics.budget(budget);
    const routes = [
      ...meetingRoutes({
        rooms: createMeetingRooms({
          ...kernel,
          passwords,
          roomMetrics,
          maxLatentRooms: values['meeting.maxLatentRooms'],
          returnMs,
        }),
        roomMetrics,
        acknowledged: () => projectionProgress.latestOf('meeting'),
        iceServers: createIceServers({ servers: iceServersOf(values), turn: turnServerOf(values), clock }),
        limitCreates,
        callerOf,
        page: createWebPage('meeting'),
        release,
        uptimeMs: () => process.uptime() * 1000,
      }),
      attendanceRoute(createAttendance(kernel), attendanceBudget),
      signaling.route,
    ];
    const policy = meetingPolicy(release);
    const ports = { ...kernel, context: systemContext, logger, rooms: relay.state };
    const mayRun = clock.inSync;
    const evictDeadNodes = createDeadNodeEviction({ ...ports, mesh: cluster, returnMs });
    const sweep = createRoomSweep(ports);
    const retention = createMeetingRetention({ ...ports, days: values['meeting.attendanceDays'] });
    return {
      policy,
      signIn: 'no sign-in; creating a room returns a creator token, joining may need its password',
      routes: [...routes, openapiRoute(policy, routes)],
      ...relayMembers(relay),
      handlers: [signaling.onEvent, relay.publish, countRooms(roomMetrics, rooms)],
      close() {
        signaling.close();
        relay.close();
      },
      reactions: [erasureReaction(kernel)],
      periodic: [
        { name: 'meeting.lost', everyMs: EVICTION_INTERVAL_MS, run: evictDeadNodes },
        // Named by node: every node writes its own counts.
        { name: `meeting.relayed-${kernel.node}`, everyMs: EVICTION_INTERVAL_MS, run: signalCounter.writePeriodically },
        { name: 'meeting.sweep', everyMs: SWEEP_EVERY_MS, run: sweep, mayRun },
        { name: 'meeting.retention', everyMs: RETENTION_EVERY_MS, run: retention, mayRun },
      ],
    };
  },
};
