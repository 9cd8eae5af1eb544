/** Session of one meeting client: handles its messages in order and tracks the room it is in. */
import { combine, createTokenBucket, REQUEST_MS, sleep, withDeadline } from '../../../application/concurrency/index.js';
import { errorMessage } from '../../../application/meeting/audience/messages.js';
import { repeatDeliveries } from '../../../application/meeting/audience/repeat-state.js';
import type { Send } from '../../../application/meeting/chat-messages.js';
import type { JoinRequest } from '../../../application/meeting/join-room.js';
import { ROOM_CHANGES } from '../../../application/meeting/message-limits.js';
import type { Signal } from '../../../application/meeting/relay-signal.js';
import { UnavailableError } from '../../../application/ports/index.js';
import type { ParticipantCommand } from '../../../domain/meeting/commands.js';
import { notJoined } from '../../../domain/meeting/join.js';
import { chatSent, reactionSent } from '../../../domain/meeting/meeting-chat.js';
import { roomIdOf } from '../../../domain/meeting/room-id.js';
import { personOf } from '../../../domain/meeting/state.js';
import { isRejection, isVisible, lengthOf, type Rejection } from '../../../domain/shared/index.js';
import type { MessageOf } from '../../realtime/websocket/client-messages.js';
import type { SessionHandler } from '../../realtime/websocket/session.js';
import { CLOSE } from '../../realtime/websocket/sink.js';
import { type ErrorAnswer, rejectionError, unreadableMessageError } from './errors.js';
import { type clientMessages, NAME_LENGTH, REACTION_LENGTH, type signals as signalTypes } from './message-schemas.js';
import { createSocketSeats, type TakenSeat } from './socket-seat.js';
import type { Client, SocketSessionDeps } from './socket-session-deps.js';

type ClientMessage = MessageOf<typeof clientMessages>;
type ClientMessageOf<Type extends ClientMessage['type']> = Extract<ClientMessage, { readonly type: Type }>;

type MessageHandlers = {
  readonly [Type in ClientMessage['type']]: (message: ClientMessageOf<Type>) => Promise<void> | void;
};

interface Membership {
  readonly roomId: string;
  readonly participantId: string;
  readonly seat: TakenSeat;
  readonly send: Send;
}

type CommandInput<Command> = Command extends unknown ? Omit<Command, 'roomId' | 'by' | 'now'> : never;

/** Close codes of lost connections, which keep their place for a while. 1006 means that no close frame came. */
const DISCONNECT_CODES: ReadonlySet<number> = new Set([1006, CLOSE.failed, CLOSE.restart, CLOSE.later]);
const MAX_WRONG_PASSWORDS = 5;
/** Chat messages and reactions not yet flushed; beyond this the next message waits for one of them. */
const MAX_PENDING_MESSAGES = 32;
/** Approximate bytes of an event in the log besides its text. */
const MESSAGE_OVERHEAD_BYTES = 1024;

export const createSocketSession =
  (deps: SocketSessionDeps) =>
  (client: Client): SessionHandler => {
    const {
      roomEntry,
      actions,
      chat,
      signalRelay,
      relay,
      audience,
      awaitPosition,
      clock,
      observe,
      onSeatTaken,
      isClosing,
    } = deps;
    const { speaker, caller, roomQuota, chatRate, changeRate, unknownRooms, logger, context } = client;
    const seats = createSocketSeats(speaker.sink);
    let membership: Membership | undefined;
    /** A join without an answer from the event log; it may have been written. */
    let unconfirmed: Pick<Membership, 'roomId' | 'participantId' | 'seat'> | undefined;
    let [wrongPasswords, hasOpened] = [0, false];
    const changePace = combine(createTokenBucket(ROOM_CHANGES, deps.monotonic), changeRate);
    const closed = new AbortController();
    /** Chat messages and reactions being written to the event log. */
    const pendingMessages = new Set<Promise<void>>();
    /** The last join, leave or room change. Closing waits for it, to leave the room it results in. */
    let lastDecision: Promise<unknown> = Promise.resolve();

    function sendError([code, text]: ErrorAnswer) {
      const { roomId = '', participantId = '' } = membership ?? {};
      const header = { roomId, participantId, at: clock.now() };
      speaker.sink.send({ json: JSON.stringify(errorMessage(header, code, text)) });
    }

    /** 1013 asks the client to reconnect when the event log may be available again. */
    function closeOnError(error: unknown) {
      if (error instanceof UnavailableError)
        logger.warn({ err: error }, 'meeting connection closed: a store is unavailable');
      else logger.error({ err: error }, 'handling a meeting message failed');
      speaker.close(error instanceof UnavailableError ? CLOSE.later : CLOSE.failed);
      // Nothing is delivered any more. If the event log still accepts the join, its seat has been left already.
      closed.abort();
      seats.close();
    }

    function takeSeat(participantId: string, isReturning: boolean): TakenSeat {
      const seat = seats.take(participantId, isReturning);
      onSeatTaken(seat);
      relay.connect({ keys: [participantId] }, seat.sink);
      return seat;
    }

    async function leaveRoom(): Promise<boolean> {
      if (!membership) return false;
      const wasInRoom = await actions.leave(membership, context());
      membership.seat.leave();
      membership = undefined;
      return wasInRoom;
    }

    async function join({ name: rawName, ...request }: ClientMessageOf<'join'>) {
      const name = rawName.trim();
      const { length } = [...name];
      if (length < 1 || length > NAME_LENGTH)
        return sendError(['INVALID_MESSAGE', `name must be 1 to ${NAME_LENGTH} characters`]);
      if (unknownRooms.isExhausted())
        return sendError(['INVALID_MESSAGE', 'Too many attempts to join unknown meetings, try again later']);
      const joinRequest: JoinRequest = { ...request, name, caller, quota: hasOpened ? roomQuota : undefined };
      const isSameParticipant =
        membership?.roomId === roomIdOf(request.roomId) &&
        membership?.participantId === request.participantId &&
        roomEntry.hasValidResumeToken(joinRequest);
      if (!isSameParticipant) await leaveRoom();
      if (closed.signal.aborted) return;
      const reserveSeat = (participantId: string, isReturning: boolean) => {
        const seat = takeSeat(participantId, isReturning);
        unconfirmed = { roomId: roomIdOf(request.roomId) ?? '', participantId, seat };
        return seat;
      };
      const result = await roomEntry.enter(joinRequest, reserveSeat, context());
      unconfirmed = undefined;
      if (isRejection(result)) {
        if (isSameParticipant) membership = undefined;
        sendError(rejectionError(result));
        const isGuess = result.rejected === 'meeting/wrong-password' && request.password !== undefined;
        if (isGuess && ++wrongPasswords === MAX_WRONG_PASSWORDS)
          speaker.close(CLOSE.policy, 'Too many wrong passwords');
        if (result.rejected === 'meeting/room-not-found' && (await unknownRooms.countAttempt()))
          speaker.close(CLOSE.policy, 'Too many joins of unknown meetings');
        return;
      }
      changePace.consume();
      hasOpened ||= result.hasOpened;
      membership = { ...result, send: chat.createSender(result) };
      // The relay must know this participant before their next message is checked and before others receive it.
      await awaitPosition(result.position);
    }

    async function leave() {
      if (await leaveRoom()) changePace.consume();
      else sendError(rejectionError(notJoined));
    }

    /** Executes a participant's command. If it changes nothing, the contract still requires the usual notifications. */
    async function execute(input: CommandInput<ParticipantCommand>) {
      if (!membership) return sendError(rejectionError(notJoined));
      const { roomId, participantId: by } = membership;
      const command = { ...input, roomId, by };
      const outcome = await actions.execute(command, context());
      if (isRejection(outcome)) return sendError(rejectionError(outcome));
      if (outcome.changed) return changePace.consume();
      await awaitPosition(outcome.position);
      const rooms = relay.state();
      const room = rooms.get(roomId);
      const repeatedCommand = { ...command, at: clock.now() };
      const repeats = JSON.stringify(repeatedCommand);
      const deliveries = repeatDeliveries(audience, rooms, repeatedCommand).flatMap(({ to, message }) => {
        const repeated = { json: JSON.stringify(message), repeats };
        const recipients = room ? to.flatMap((id) => personOf(room, id) ?? []) : [];
        return recipients.map((each) => signalRelay.send({ roomId, from: { id: by }, to: each }, repeated));
      });
      await Promise.all(deliveries);
    }

    async function delay(ms: number) {
      observe?.slowed(1);
      await sleep(ms, closed.signal);
      observe?.slowed(-1);
    }

    /** Runs work after all pending messages, within the room-change rate limit. After `REQUEST_MS` the connection is closed. */
    async function runInOrder(work: () => Promise<void>) {
      const ready = Promise.allSettled(pendingMessages).then(async () => {
        const ms = changePace.wait();
        if (ms > 0) await delay(ms);
        return ms === 0 || !closed.signal.aborted;
      });
      const result = ready.then((mayRun) => (mayRun ? work() : undefined));
      lastDecision = result.catch(() => {});
      await ready;
      await withDeadline(REQUEST_MS, result, 'meeting command');
    }

    /** Sends to everyone, within the rate limit of bytes in the log. */
    function sendRateLimited(text: string, createEvent: Parameters<Send>[0]): Promise<void> | void {
      const bytes = MESSAGE_OVERHEAD_BYTES + Buffer.byteLength(text);
      const ms = chatRate.wait(bytes);
      chatRate.consume(bytes);
      if (ms === 0) return sendToRoom(createEvent);
      return delay(ms).then(() => (closed.signal.aborted ? undefined : sendToRoom(createEvent)));
    }

    function sendToRoom(createEvent: Parameters<Send>[0]): Promise<void> | void {
      const sent = membership ? membership.send(createEvent, context()) : notJoined;
      if (isRejection(sent)) return sendError(rejectionError(sent));
      const remove = () => void pendingMessages.delete(done);
      const done = sent.then(remove, (error) => {
        remove();
        closeOnError(error);
      });
      pendingMessages.add(done);
      // Over the limit of all clients together, each client may have one message in progress.
      const { used, limit } = chat.waiting;
      if (pendingMessages.size >= MAX_PENDING_MESSAGES || used() >= limit) return Promise.race(pendingMessages);
    }

    const signal =
      (mode: 'direct' | 'backpressure') =>
      (message: ClientMessageOf<keyof typeof signalTypes>): Promise<void> | void => {
        if (!membership) return sendError(rejectionError(notJoined));
        const { roomId, participantId } = membership;
        const fullSignal = { timestamp: clock.now(), ...message, roomId, participantId } as unknown as Signal;
        const outcome: Promise<void> | void | Rejection = signalRelay.relay(membership, fullSignal, mode);
        if (isRejection(outcome)) return sendError(rejectionError(outcome));
        return outcome as Promise<void> | void;
      };

    const simpleCommand =
      (type: 'RaiseHand' | 'LowerHand' | 'LockRoom' | 'UnlockRoom' | 'StartRecording' | 'StopRecording') => () =>
        runInOrder(() => execute({ type }));

    const ACTIONS = {
      mute: 'MuteParticipant',
      unmute: 'UnmuteParticipant',
      kick: 'KickParticipant',
      'make-moderator': 'PromoteParticipant',
    } as const;

    const handlers: MessageHandlers = {
      join: (message) => runInOrder(() => join(message)),
      leave: () => runInOrder(leave),
      offer: signal('direct'),
      answer: signal('direct'),
      'ice-candidate': signal('direct'),
      'file-offer': signal('backpressure'),
      'file-answer': signal('backpressure'),
      'file-chunk': signal('backpressure'),
      chat: ({ text, replyTo }) => sendRateLimited(text, (origin) => chatSent(origin, text, replyTo)),
      reaction({ reaction: rawReaction }) {
        const reaction = rawReaction.trim();
        if (lengthOf(reaction) > REACTION_LENGTH || !isVisible(reaction))
          return sendError(['INVALID_MESSAGE', `reaction must be 1 to ${REACTION_LENGTH} characters`]);
        return sendRateLimited(reaction, (origin) => reactionSent(origin, reaction));
      },
      'participant-updated': ({ isMuted, isVideoOff, isHandRaised }) =>
        runInOrder(() => execute({ type: 'UpdateOneself', isMuted, isVideoOff, isHandRaised })),
      'raise-hand': simpleCommand('RaiseHand'),
      'lower-hand': simpleCommand('LowerHand'),
      'recording-started': simpleCommand('StartRecording'),
      'recording-stopped': simpleCommand('StopRecording'),
      'room-locked': simpleCommand('LockRoom'),
      'room-unlocked': simpleCommand('UnlockRoom'),
      'moderator-action': ({ targetId: participantId, action }) =>
        runInOrder(() => execute({ type: ACTIONS[action], participantId })),
      'admit-user': ({ targetId: participantId }) => runInOrder(() => execute({ type: 'AdmitUser', participantId })),
      'reject-user': ({ targetId: participantId, reason }) =>
        runInOrder(() => execute({ type: 'RejectUser', participantId, reason })),
    };

    return {
      onMessage(message) {
        const handler = handlers[message.type as ClientMessage['type']] as (message: unknown) => Promise<void> | void;
        return handler(message)?.catch(closeOnError);
      },
      misunderstood: (misunderstanding) => sendError(unreadableMessageError(misunderstanding)),
      onClose(code) {
        closed.abort();
        void leaveSeats(DISCONNECT_CODES.has(code) ? deps.returnMs : 0);
      },
    };

    /** Leaves every seat once pending work is decided. The place is kept for `graceMs`. */
    async function leaveSeats(graceMs: number) {
      await Promise.allSettled([lastDecision, ...pendingMessages]);
      const memberships = [membership, unconfirmed].filter((each) => each !== undefined);
      [membership, unconfirmed] = [undefined, undefined];
      if (!isClosing())
        await Promise.all(memberships.map((each) => actions.leaveWhenDisconnected(each, context, graceMs)));
    }
  };
