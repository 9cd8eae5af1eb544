/** The WebSocket of the meetings: who may open one, and who is told that they sit elsewhere now. */
import { newCommandId } from '../../../application/command/index.js';
import { createTokenBuckets } from '../../../application/concurrency/index.js';
import { CHAT_BYTES, ROOM_CHANGES_PER_NETWORK } from '../../../application/meeting/message-limits.js';
import type { CommandContext, RevealedEvent } from '../../../application/ports/index.js';
import type { MeetingEvent, RoomEvent } from '../../../domain/meeting/catalog.js';
import { quotaOf, type RateLimit } from '../server/rate-limit.js';
import { type Route, route } from '../server/route.js';
import type { SlidingLimit } from '../server/sliding-window-limit.js';
import type { CallerOf } from './caller-digest.js';
import { clientMessages, PER_SECOND, serverMessages } from './message-schemas.js';
import type { SocketLimit } from './socket-limit.js';
import type { TakenSeat } from './socket-seat.js';
import { createSocketSession } from './socket-session.js';
import type { SocketSessionDeps } from './socket-session-deps.js';

export interface SignalingDeps extends Omit<SocketSessionDeps, 'onSeatTaken' | 'isClosing'> {
  readonly door: SocketLimit;
  readonly callerOf: CallerOf;
  /** The name of this process among all of the installation. */
  readonly run: string;
  readonly systemContext: (actor: string) => CommandContext;
  /** Of rooms that are made. */
  readonly limitCreates: RateLimit;
  /** Of attempts to join rooms that do not exist. */
  readonly limitUnknown: SlidingLimit;
}

/** That somebody sits at a place of a node now. */
type SeatEvent = RoomEvent<'ParticipantJoined' | 'EntryRequested' | 'ParticipantReturned' | 'ParticipantRejoined'>;
const SEAT_EVENTS: ReadonlySet<string> = new Set<SeatEvent['type']>([
  'ParticipantJoined',
  'EntryRequested',
  'ParticipantReturned',
  'ParticipantRejoined',
]);
/** Those of people who came back with their `resumeToken`. */
const RETURN_EVENTS: ReadonlySet<string> = new Set<SeatEvent['type']>(['ParticipantReturned', 'ParticipantRejoined']);

export interface Signaling {
  readonly route: Route;
  /** To be told of each event before the relay is. */
  hear(event: Pick<RevealedEvent<MeetingEvent>, 'type' | 'data'>): void;
  /** The process stops: whose connection ends from here on has not left, and is told to come back. */
  close(): void;
}

export function createSignaling(deps: SignalingDeps): Signaling {
  const { door, callerOf, observe, limitCreates, limitUnknown, inside, run, returnMs, systemContext } = deps;
  const seats = new Map<string, Set<TakenSeat>>();
  const chatRates = createTokenBuckets(CHAT_BYTES, deps.monotonic);
  const changeRates = createTokenBuckets(ROOM_CHANGES_PER_NETWORK, deps.monotonic);
  let isClosing = false;

  const seatTracking = {
    onSeatTaken(seat: TakenSeat) {
      const { participantId } = seat;
      seats.set(participantId, (seats.get(participantId) ?? new Set()).add(seat));
      seat.sink.onClose(() => {
        const seatsOfParticipant = seats.get(participantId);
        if (seatsOfParticipant?.delete(seat) && seatsOfParticipant.size === 0) seats.delete(participantId);
      });
    },
    isClosing: () => isClosing,
  };
  const createSession = createSocketSession({ ...deps, ...seatTracking });

  /** Somebody took this node for gone and its connections for lost: those that are still here are there again. */
  function restoreIfConnected({ roomId, participantId, seat: id }: RoomEvent<'ConnectionLost'>['data']) {
    const isConnected = [...(seats.get(participantId) ?? [])].some((each) => each.id === id);
    if (isConnected && !isClosing)
      void inside.restoreConnection({ roomId, participantId, seat: { id } }, run, () =>
        systemContext('meeting.still-here'),
      );
  }

  return {
    hear({ type, data }) {
      if (type === 'ConnectionLost') return restoreIfConnected(data as RoomEvent<'ConnectionLost'>['data']);
      if (!SEAT_EVENTS.has(type)) return;
      const { roomId, participantId, node, seat: id } = data as SeatEvent['data'];
      const seatsOfParticipant = [...(seats.get(participantId) ?? [])];
      // The log took it when their connection had long ended, and nobody knew whether it would. Who came back knows who
      // they are, and was told to do so again.
      const graceMs = RETURN_EVENTS.has(type) ? returnMs : 0;
      if (node === run && !isClosing && !seatsOfParticipant.some((each) => each.id === id))
        void inside.leaveWhenDisconnected(
          { roomId, participantId, seat: { id } },
          () => systemContext('meeting.late'),
          graceMs,
        );
      if (!RETURN_EVENTS.has(type)) return;
      for (const each of seatsOfParticipant)
        if (each.id === id) each.welcome();
        else each.yield();
    },
    close() {
      isClosing = true;
    },
    route: route({
      method: 'GET',
      path: '/ws',
      summary: 'Meet: rooms, WebRTC negotiation, chat, files, moderation',
      description:
        'Frames of up to 1 MiB. The sender is known by the socket. A connection that ends without a close frame, with 1011, ' +
        '1012 or 1013, or after 60 s of silence is lost: its place is held for `meeting.returnSeconds` (20), and others get ' +
        '`participant-updated` with `connection`. Any other end leaves at once. Who joins again in that time with ' +
        '`participantId` and `resumeToken` is the same person. Close codes: 4001 this person has joined over another ' +
        'socket, 4003 kicked, 4004 rejected, 1008 too many messages, wrong passwords or joins of unknown rooms, 1013 ' +
        'the service cannot go on now: connect again.',
      socket: { says: clientMessages, hears: serverMessages, perSecond: PER_SECOND },
      answers: {
        429: {
          description: 'Too many connections, or joins of unknown rooms, from this address in a minute',
        },
      },
      admit: async ({ address }) => (await door.admit(address)) ?? callerOf(address),
      handle({ context, logger, address }, caller) {
        const { actor, correlationId, traceparent } = context('meeting.guest', '');
        const baseContext = { actor, correlationId, ...(traceparent !== undefined && { traceparent }) };
        return {
          converse(speaker) {
            speaker.sink.onClose(door.opened(address));
            observe?.open(1);
            speaker.sink.onClose(() => observe?.open(-1));
            const roomQuota = quotaOf({ perNetwork: limitCreates, rejected: 'meeting/too-many-rooms' }, address);
            const unknownRooms = {
              async countAttempt() {
                await limitUnknown.spend(address);
                return limitUnknown.wait(address) > 0;
              },
              isExhausted: () => limitUnknown.wait(address) > 0,
            };
            const limits = { caller, roomQuota, chatRate: chatRates(caller), changeRate: changeRates(caller) };
            // Each message is a command of its own. The upgrade itself is let go: it would stay as long as the socket.
            const messageContext = () => ({ ...baseContext, commandId: newCommandId() });
            return createSession({ speaker, unknownRooms, ...limits, logger, context: messageContext });
          },
        };
      },
    }),
  };
}
