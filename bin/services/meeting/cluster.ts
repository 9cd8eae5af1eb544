/** Connects meetings across nodes: live signals between participants, and eviction of those of dead nodes. */
import type { Relay } from '../../../adapters/realtime/relay/relay.js';
import { createGroupCommit } from '../../../application/command/index.js';
import { createRoomLookup, type Rooms } from '../../../application/meeting/audience/snapshot.js';
import { createClusterSignaling, createLocalSignaling } from '../../../application/meeting/cluster-signaling.js';
import { createDeadNodeEviction, EVICTION_INTERVAL_MS } from '../../../application/meeting/evict-dead-nodes.js';
import type { RoomMetrics } from '../../../application/meeting/room-metrics.js';
import { returnMsOf } from '../../../application/meeting/settings.js';
import { createSignalCounter } from '../../../application/meeting/signal-counter.js';
import type { ClusterSignaling } from '../../../application/meeting/signaling-port.js';
import type { Audience } from '../../../application/subscription/index.js';
import type { MeetingEvent } from '../../../domain/meeting/catalog.js';
import type { Periodic, ServiceContext } from '../../node/service.js';

export interface MeetingClusterContext extends Pick<ServiceContext, 'kernel' | 'values' | 'metrics' | 'logger'> {
  readonly openCluster: ServiceContext['openCluster'];
  readonly relay: Pick<Relay<Rooms>, 'state' | 'sendEphemeral' | 'sendWithBackpressure'>;
  readonly audience: Audience<Rooms, MeetingEvent>;
  readonly census: Pick<RoomMetrics, 'lastPosition' | 'awaitPosition'>;
}

export interface MeetingCluster {
  /** Name of this process in the cluster; stored with participants to locate them. */
  readonly run: string;
  readonly live: ClusterSignaling;
  /** Called for each live message. */
  readonly relayed: (meeting: { readonly roomId: string; readonly meetingId: string }) => void;
  readonly periodic: readonly Periodic[];
}

export async function connectMeetingCluster(context: MeetingClusterContext): Promise<MeetingCluster> {
  const { kernel, values, metrics, logger, relay, audience, census } = context;
  const cluster = await context.openCluster();
  const appender = createGroupCommit({ ...kernel, logger });
  const signalCounter = createSignalCounter({ ...kernel, appender, observe: metrics.live('meeting') });
  const evictDeadNodes = createDeadNodeEviction({
    ...kernel,
    mesh: cluster,
    rooms: relay.state,
    returnMs: returnMsOf(values),
    logger,
  });
  return {
    run: cluster.nodeId,
    live: createClusterSignaling({
      local: createLocalSignaling(relay, audience),
      mesh: cluster,
      room: createRoomLookup(relay.state),
      ...census,
    }),
    relayed: signalCounter.count,
    periodic: [
      { name: 'meeting.lost', everyMs: EVICTION_INTERVAL_MS, run: evictDeadNodes },
      // Named by node: every node writes its own counts.
      { name: `meeting.relayed-${kernel.node}`, everyMs: EVICTION_INTERVAL_MS, run: signalCounter.writePeriodically },
    ],
  };
}
