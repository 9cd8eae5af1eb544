/** Composes the WebSocket endpoint of the meeting service. */
import type { CallerDigest } from '../../../adapters/http/meeting/routes.js';
import { createSignaling, createSocketLimit } from '../../../adapters/http/meeting/socket-route.js';
import { createRateLimit, type RateLimit } from '../../../adapters/http/server/rate-limit.js';
import type { Relay } from '../../../adapters/realtime/relay/relay.js';
import { createGroupCommit } from '../../../application/command/index.js';
import { createRoomLookup, type Rooms } from '../../../application/meeting/audience/snapshot.js';
import { createMeetingChat } from '../../../application/meeting/chat-messages.js';
import { createRoomEntry } from '../../../application/meeting/join-room.js';
import { createParticipantActions } from '../../../application/meeting/participant-actions.js';
import { createSignalRelay, type SignalPorts } from '../../../application/meeting/relay-signal.js';
import type { RoomMetrics } from '../../../application/meeting/room-metrics.js';
import type { RoomPasswords } from '../../../application/meeting/room-passwords.js';
import { returnMsOf } from '../../../application/meeting/settings.js';
import type { ClusterSignaling } from '../../../application/meeting/signaling-port.js';
import type { Audience } from '../../../application/subscription/index.js';
import type { MeetingEvent } from '../../../domain/meeting/catalog.js';
import type { ServiceContext } from '../../node/service.js';

export interface SignalingContext
  extends Pick<ServiceContext, 'kernel' | 'values' | 'release' | 'metrics' | 'logger' | 'signal'> {
  readonly relay: Relay<Rooms, MeetingEvent>;
  readonly audience: Audience<Rooms, MeetingEvent>;
  readonly census: Pick<RoomMetrics, 'awaitPosition'>;
  readonly passwords: RoomPasswords;
  readonly callerOf: CallerDigest;
  readonly limitCreates: RateLimit;
  /** Name of this process in the cluster. */
  readonly run: string;
  readonly live: ClusterSignaling;
  /** Called for each message to one participant. */
  readonly relayed: SignalPorts['onRelayed'];
}

const MINUTE_MS = 60_000;

export function connectSignaling(context: SignalingContext) {
  const {
    kernel,
    values,
    release,
    metrics,
    logger,
    signal,
    relay,
    audience,
    census,
    passwords,
    callerOf,
    limitCreates,
    run,
    live,
    relayed: onRelayed,
  } = context;
  const { log, clock } = kernel;
  const returnMs = returnMsOf(values);
  const limitUnknown = createRateLimit(values['meeting.unknownPerMinute'], MINUTE_MS);
  const room = createRoomLookup(relay.state);
  const meetingChat = createMeetingChat({
    log,
    appender: createGroupCommit({ log, logger, appended: kernel.appended, blocking: true }),
    clock,
    node: kernel.node,
    release,
    retentionSeconds: values['meeting.chatRetentionSeconds'],
    room,
  });
  metrics.budget(meetingChat.waiting);
  return createSignaling({
    roomEntry: createRoomEntry({ ...kernel, passwords, room, run, returnMs }),
    actions: createParticipantActions({ ...kernel, logger, signal }),
    chat: meetingChat,
    signalRelay: createSignalRelay({ live, room, onRelayed }),
    relay,
    audience,
    awaitPosition: census.awaitPosition,
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
    systemContext: kernel.systemContext,
    observe: metrics.sockets('meeting'),
  });
}
