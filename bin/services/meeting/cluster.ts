/** Meetings over all nodes: what people tell each other live, and those whose node has gone. */
import type { Relay } from '../../../adapters/realtime/relay/relay.js';
import type { Frame } from '../../../adapters/realtime/relay/sink.js';
import { createGroupCommit } from '../../../application/command/index.js';
import type { Rooms } from '../../../application/meeting/audience/audience.js';
import { isStillSo, type Repeated } from '../../../application/meeting/audience/repeat-state.js';
import { createClusterSignaling } from '../../../application/meeting/cluster-signaling.js';
import { createDeadNodeEviction, LOST_EVERY_MS } from '../../../application/meeting/evict-dead-nodes.js';
import type { Census } from '../../../application/meeting/room-metrics.js';
import { returnMsOf } from '../../../application/meeting/settings.js';
import { createSignalCounter } from '../../../application/meeting/signal-counter.js';
import type { EphemeralMessage, LiveRelay, LocalSignaling } from '../../../application/meeting/signaling-port.js';
import type { Audience } from '../../../application/subscription/index.js';
import type { MeetingEvent } from '../../../domain/meeting/catalog.js';
import type { Periodic, ServiceContext } from '../../node/service.js';

export interface AcrossParts extends Pick<ServiceContext, 'kernel' | 'values' | 'metrics' | 'logger'> {
  readonly mesh: ServiceContext['mesh'];
  readonly relay: Pick<Relay<Rooms>, 'state' | 'tell' | 'passOn'>;
  readonly audience: Audience<Rooms, MeetingEvent>;
  readonly census: Pick<Census, 'heard' | 'hears'>;
}

export interface Across {
  /** The name of this process among all, for where people are. */
  readonly run: string;
  readonly live: LiveRelay;
  /** To be told of each live message. */
  readonly relayed: (meeting: { readonly roomId: string; readonly meetingId: string }) => void;
  readonly periodic: readonly Periodic[];
}

export async function connectAcross(parts: AcrossParts): Promise<Across> {
  const { kernel, values, metrics, logger, relay, audience, census } = parts;
  const mesh = await parts.mesh();
  const frameFor = (to: string, { json, repeats }: EphemeralMessage): Frame => {
    if (repeats === undefined) return { json };
    const repeated: Repeated = JSON.parse(repeats);
    return { json, isOver: () => !isStillSo(audience, relay.state(), repeated, { to, json }) };
  };
  // To those whose sockets this process holds.
  const here: LocalSignaling = {
    tell: (id, live) => relay.tell([id], frameFor(id, live)) > 0,
    pass: (id, live) => relay.passOn(id, frameFor(id, live)),
  };
  const appender = createGroupCommit({ ...kernel, logger });
  const counted = createSignalCounter({ ...kernel, appender });
  const sweep = createDeadNodeEviction({
    ...kernel,
    mesh,
    rooms: relay.state,
    returnMs: returnMsOf(values),
    logger,
  });
  const toldLive = metrics.live('meeting');
  return {
    run: mesh.nodeId,
    live: createClusterSignaling({ here, mesh, room: (roomId) => relay.state().get(roomId), ...census }),
    relayed(meeting) {
      toldLive();
      counted.count(meeting);
    },
    periodic: [
      { name: 'meeting.lost', everyMs: LOST_EVERY_MS, run: sweep },
      // Of every node.
      { name: `meeting.relayed-${kernel.node}`, everyMs: LOST_EVERY_MS, run: counted.keepWriting },
    ],
  };
}
