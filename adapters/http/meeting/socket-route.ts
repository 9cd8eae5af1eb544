/** WebSocket route of the meeting service; closes the previous socket of a participant who joins over another one. */
import { newCommandId } from '../../../application/command/index.js';
import { createRateLimiters, createTokenBucket } from '../../../application/concurrency/index.js';
import { CHAT_BYTES, ROOM_CHANGES_PER_NETWORK } from '../../../application/meeting/message-limits.js';
import type { CommandContext } from '../../../application/ports/index.js';
import type { RoomEvent } from '../../../domain/meeting/catalog.js';
import { networkOf, quotaOf, type RateLimit } from '../server/client-network.js';
import { type Problem, problem } from '../server/policy.js';
import { route } from '../server/route.js';
import { clientMessages, PER_SECOND, serverMessages } from './message-schemas.js';
import { type CallerDigest, createRoomQuota } from './routes.js';
import type { TakenSeat } from './socket-seat.js';
import { createSocketSession } from './socket-session.js';
import type { SocketSessionDeps } from './socket-session-deps.js';

export interface SignalingDeps extends Omit<SocketSessionDeps, 'onSeatTaken' | 'isClosing'> {
  readonly socketLimit: ReturnType<typeof createSocketLimit>;
  readonly callerOf: CallerDigest;
  readonly run: string;
  readonly systemContext: (actor: string) => CommandContext;
  readonly limitCreates: RateLimit;
  readonly limitUnknown: RateLimit;
}

/** An event that assigns a participant to a socket of a node. */
type SeatEvent = RoomEvent<'ParticipantJoined' | 'EntryRequested' | 'ParticipantReturned' | 'ParticipantRejoined'>;
const SEAT_EVENTS: ReadonlySet<string> = new Set<SeatEvent['type']>([
  'ParticipantJoined',
  'EntryRequested',
  'ParticipantReturned',
  'ParticipantRejoined',
]);
/** Events of participants who came back with their `resumeToken`. */
const RETURN_EVENTS: ReadonlySet<string> = new Set<SeatEvent['type']>(['ParticipantReturned', 'ParticipantRejoined']);

export function createSignaling(deps: SignalingDeps) {
  const { socketLimit, callerOf, observe, limitCreates, limitUnknown, actions, run, returnMs, systemContext } = deps;
  const seats = new Map<string, Set<TakenSeat>>();
  const chatRates = createRateLimiters(() => createTokenBucket(CHAT_BYTES, deps.monotonic));
  const changeRates = createRateLimiters(() => createTokenBucket(ROOM_CHANGES_PER_NETWORK, deps.monotonic));
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

  /** Another node took this node for dead and recorded its connections as lost; restores those still open here. */
  function restoreIfConnected({ roomId, participantId, seat: id }: RoomEvent<'ConnectionLost'>['data']) {
    const isConnected = [...(seats.get(participantId) ?? [])].some((each) => each.id === id);
    if (isConnected && !isClosing)
      void actions.restoreConnection({ roomId, participantId, seat: { id } }, run, () =>
        systemContext('meeting.still-here'),
      );
  }

  return {
    /** Handles an event; must be called before the relay receives it. */
    onEvent({ type, data }: { readonly type: string; readonly data: unknown }) {
      if (type === 'ConnectionLost') return restoreIfConnected(data as RoomEvent<'ConnectionLost'>['data']);
      if (!SEAT_EVENTS.has(type)) return;
      const { roomId, participantId, node, seat: id } = data as SeatEvent['data'];
      const seatsOfParticipant = [...(seats.get(participantId) ?? [])];
      // The join was written after its connection had closed, because the answer of the event log was late. A
      // participant who came back holds a resume token, so their seat is reserved again.
      const graceMs = RETURN_EVENTS.has(type) ? returnMs : 0;
      if (node === run && !isClosing && !seatsOfParticipant.some((each) => each.id === id))
        void actions.leaveWhenDisconnected(
          { roomId, participantId, seat: { id } },
          () => systemContext('meeting.late'),
          graceMs,
        );
      if (!RETURN_EVENTS.has(type)) return;
      for (const each of seatsOfParticipant)
        if (each.id === id) each.welcome();
        else each.yield();
    },
    /** Marks the process as stopping: connections that end from now on are not recorded as departures. */
    close(): void {
      isClosing = true;
    },
    route: route({
      method: 'GET',
      path: '/ws',
      summary: 'Meeting WebSocket: rooms, WebRTC negotiation, chat, files, moderation',
      description:
        'Frames of up to 1 MiB. The socket identifies the sender. A connection is lost if it ends without a close ' +
        'frame, with 1011, 1012 or 1013, or after 60 s of silence: the participant keeps their place for ' +
        '`meeting.returnSeconds` (20), and others receive `participant-updated` with `connection`. On any other ' +
        'close they leave immediately. Joining again in that time with `participantId` and `resumeToken` restores ' +
        'the same participant. Close codes: 4001 joined over another socket, 4003 kicked, 4004 rejected, 1008 too ' +
        'many messages, wrong passwords or joins of unknown rooms, 1013 service unavailable: reconnect.',
      socket: { clientMessages: clientMessages, serverMessages: serverMessages, perSecond: PER_SECOND },
      answers: {
        429: {
          description: 'Too many connections, or joins of unknown rooms, from this address in a minute',
        },
      },
      admit: async ({ address }) => (await socketLimit.admit(address)) ?? callerOf(address),
      handle({ context, logger, address }, caller) {
        const { actor, correlationId, traceparent } = context('meeting.guest', '');
        const baseContext = { actor, correlationId, traceparent };
        return {
          converse(speaker) {
            speaker.sink.onClose(socketLimit.trackConnection(address));
            observe?.open(1);
            speaker.sink.onClose(() => observe?.open(-1));
            const roomQuota = quotaOf(createRoomQuota(limitCreates), address);
            const unknownRooms = {
              async countAttempt() {
                await limitUnknown.spend(address);
                return limitUnknown.wait(address) > 0;
              },
              isExhausted: () => limitUnknown.wait(address) > 0,
            };
            const limits = { caller, roomQuota, chatRate: chatRates(caller), changeRate: changeRates(caller) };
            // Each message is a command with its own id. The closure must not capture the upgrade request, which
            // would stay in memory as long as the socket.
            const messageContext = () => ({ ...baseContext, commandId: newCommandId() });
            return createSession({ speaker, unknownRooms, ...limits, logger, context: messageContext });
          },
        };
      },
    }),
  };
}

const OPEN_RETRY_MS = 60_000;

/**
 * Limits WebSocket connections per network: new ones per minute, and concurrent ones. A network that tried too many
 * unknown rooms has to wait; one at `maxOpen` spends nothing of its connection rate.
 */
export function createSocketLimit(connectRate: RateLimit, maxOpen: number, unknownRooms: Pick<RateLimit, 'wait'>) {
  const open = new Map<string, number>();
  return {
    /** For `Route.admit`: counts a connection attempt, or returns the problem that refuses it. */
    async admit(address: string): Promise<Problem | undefined> {
      if ((open.get(networkOf(address)) ?? 0) >= maxOpen)
        return problem(429, 'Too many open connections from your address', {
          retryAfterMs: OPEN_RETRY_MS,
        });
      const retryAfterMs = unknownRooms.wait(address) || (await connectRate.spend(address));
      return retryAfterMs === undefined
        ? undefined
        : problem(429, 'Too many requests, try again later', { retryAfterMs });
    },
    /** Counts an open connection. Call the returned function once when it is closed. */
    trackConnection(address: string): () => void {
      const network = networkOf(address);
      open.set(network, (open.get(network) ?? 0) + 1);
      return () => {
        const remaining = (open.get(network) ?? 1) - 1;
        if (remaining > 0) open.set(network, remaining);
        else open.delete(network);
      };
    },
  };
}
