/** One client of the meetings: where it sits, and what becomes of each thing it says. */
import { combine, createTokenBucket, REQUEST_MS, sleep, withDeadline } from '../../../application/concurrency/index.js';
import { failed } from '../../../application/meeting/audience/messages.js';
import { echoOf } from '../../../application/meeting/audience/repeat-state.js';
import type { Send } from '../../../application/meeting/chat-messages.js';
import type { JoinRequest } from '../../../application/meeting/join-room.js';
import { ROOM_CHANGES } from '../../../application/meeting/message-limits.js';
import type { Signal } from '../../../application/meeting/relay-signal.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { notJoined } from '../../../domain/meeting/join.js';
import { chatSent, reactionSent } from '../../../domain/meeting/meeting-chat.js';
import type { InsideCommand } from '../../../domain/meeting/participant-actions.js';
import { roomIdOf } from '../../../domain/meeting/room-id.js';
import { personOf } from '../../../domain/meeting/state.js';
import { isRejection, isVisible, type Rejection } from '../../../domain/shared/index.js';
import type { MessageOf as SaidOf } from '../../realtime/websocket/message-schema.js';
import { CLOSE, type Conversation } from '../../realtime/websocket/session.js';
import { type ErrorAnswer, misunderstandingOf, refusalOf } from './errors.js';
import { type clientSays, NAME_LENGTH, REACTION_LENGTH, type signals as signalTypes } from './message-schemas.js';
import { createChair, type TakenSeat } from './socket-seat.js';
import type { Client, ConversingDeps } from './socket-session-deps.js';

type ClientMessage = SaidOf<typeof clientSays>;
type ClientMessageOf<Type extends ClientMessage['type']> = Extract<ClientMessage, { readonly type: Type }>;

/** What becomes of each type of message. */
type Kinds = {
  readonly [Type in ClientMessage['type']]: (message: ClientMessageOf<Type>) => Promise<void> | void;
};

/** Where somebody sits, inside or waiting. */
interface Place {
  readonly roomId: string;
  readonly participantId: string;
  readonly seat: TakenSeat;
  readonly say: Send;
}

type Wish<Command> = Command extends unknown ? Omit<Command, 'roomId' | 'by' | 'now'> : never;

/** Close codes of connections that were lost: all others leave at once. 1006: there was no close frame. */
const LOST: ReadonlySet<number> = new Set([1006, CLOSE.failed, CLOSE.restart, CLOSE.later]);
/** Who guesses so often is sent away. */
const WRONG_PASSWORDS = 5;
/** Said and not flushed yet: who says more waits for some of it. */
const TALKING = 32;
/** What it takes in the log to say something, besides its text. */
const SAYING_BYTES = 1024;

export const createConversing =
  (deps: ConversingDeps) =>
  (client: Client): Conversation => {
    const { entering, inside, talk, signals, relay, audience, hears, clock, observe, taken, isClosing } = deps;
    const { speaker, caller, opening, saying: volume, changing, unknownRooms, logger, context } = client;
    const chair = createChair(speaker.sink);
    let place: Place | undefined;
    /** Where they may sit as well: the log was told so, and did not answer. */
    let doubtful: Pick<Place, 'roomId' | 'participantId' | 'seat'> | undefined;
    let [wrongPasswords, hasOpened] = [0, false];
    const pace = combine(createTokenBucket(ROOM_CHANGES, deps.monotonic), changing);
    const gone = new AbortController();
    /** What was said and is on its way into the log. */
    const talking = new Set<Promise<void>>();
    /** What decides where they sit: whoever is gone waits for it, to leave from there. */
    let deciding: Promise<unknown> = Promise.resolve();

    function refuse([code, text]: ErrorAnswer) {
      const { roomId = '', participantId = '' } = place ?? {};
      const there = { roomId, participantId, at: clock.now() };
      speaker.sink.send({ json: JSON.stringify(failed(there, code, text)) });
    }

    /** Of a store that is away: they come back when it may be there again. */
    function away(error: unknown) {
      if (error instanceof UnavailableError) logger.warn({ err: error }, 'a meeting could not go on now');
      else logger.error({ err: error }, 'a message of a meeting failed');
      speaker.close(error instanceof UnavailableError ? CLOSE.later : CLOSE.failed);
      // They hear no more: where the log lets them in all the same, nobody sits there.
      gone.abort();
      chair.close();
    }

    function sit(participantId: string, isReturning: boolean): TakenSeat {
      const seat = chair.take(participantId, isReturning);
      taken(seat);
      relay.connect({ keys: [participantId] }, seat.sink);
      return seat;
    }

    async function goAway(): Promise<boolean> {
      if (!place) return false;
      const was = await inside.leave(place, context());
      place.seat.leave();
      place = undefined;
      return was;
    }

    async function join({ name: said, ...wish }: ClientMessageOf<'join'>) {
      const name = said.trim();
      const { length } = [...name];
      if (length < 1 || length > NAME_LENGTH)
        return refuse(['INVALID_MESSAGE', `name must be 1 to ${NAME_LENGTH} characters`]);
      if (unknownRooms.isSpent())
        return refuse(['INVALID_MESSAGE', 'Too many attempts to join meetings that do not exist, try again later']);
      const arrival: JoinRequest = { ...wish, name, caller, quota: hasOpened ? opening : undefined };
      const isSame =
        place?.roomId === roomIdOf(wish.roomId) &&
        place?.participantId === wish.participantId &&
        entering.isKnown(arrival);
      if (!isSame) await goAway();
      if (gone.signal.aborted) return;
      const take = (participantId: string, isReturning: boolean) => {
        const seat = sit(participantId, isReturning);
        doubtful = { roomId: roomIdOf(wish.roomId) ?? '', participantId, seat };
        return seat;
      };
      const entered = await entering.enter(arrival, take, context());
      doubtful = undefined;
      if (isRejection(entered)) {
        if (isSame) place = undefined;
        refuse(refusalOf(entered));
        const isGuess = entered.rejected === 'meeting/wrong-password' && wish.password !== undefined;
        if (isGuess && ++wrongPasswords === WRONG_PASSWORDS) speaker.close(CLOSE.policy, 'Too many wrong passwords');
        if (entered.rejected === 'meeting/room-not-found' && (await unknownRooms.asked()))
          speaker.close(CLOSE.policy, 'Too many meetings that do not exist');
        return;
      }
      pace.consume();
      hasOpened ||= entered.hasOpened;
      place = { ...entered, say: talk.speaker(entered) };
      // What they say next is judged by what the relay knows, and the others must know of them first.
      await hears(entered.position);
    }

    async function leave() {
      if (await goAway()) pace.consume();
      else refuse(refusalOf(notJoined));
    }

    /** A command of somebody inside. Where nothing changes by it, those who are promised to hear of it do. */
    async function act(wish: Wish<InsideCommand>) {
      if (!place) return refuse(refusalOf(notJoined));
      const { roomId, participantId: by } = place;
      const command = { ...wish, roomId, by };
      const outcome = await inside.execute(command, context());
      if (isRejection(outcome)) return refuse(refusalOf(outcome));
      if (outcome.changed) return pace.consume();
      await hears(outcome.position);
      const rooms = relay.state();
      const room = rooms.get(roomId);
      const repeated = { ...command, at: clock.now() };
      const repeats = JSON.stringify(repeated);
      const told = echoOf(audience, rooms, repeated).flatMap(({ to, message }) => {
        const live = { json: JSON.stringify(message), repeats };
        const there = room ? to.flatMap((id) => personOf(room, id) ?? []) : [];
        return there.map((each) => signals.tell({ roomId, from: { id: by }, to: each }, live));
      });
      await Promise.all(told);
    }

    /** Until then, or until they are gone. */
    async function slow(ms: number) {
      observe?.slowed(1);
      await sleep(ms, gone.signal);
      observe?.slowed(-1);
    }

    /**
     * In order with what is still being said, and no faster than a room may be changed; from then on as fast as a
     * request is answered, or they are told to come again. The work itself goes on.
     */
    async function decide(work: () => Promise<void>) {
      const inTurn = Promise.allSettled(talking).then(async () => {
        const ms = pace.wait();
        if (ms > 0) await slow(ms);
        return ms === 0 || !gone.signal.aborted;
      });
      const decided = inTurn.then((may) => (may ? work() : undefined));
      deciding = decided.catch(() => {});
      await inTurn;
      await withDeadline(REQUEST_MS, decided, 'what a meeting decides');
    }

    /** No faster than there is to be room for it in the log. */
    function sayAll(text: string, make: Parameters<Send>[0]): Promise<void> | void {
      const bytes = SAYING_BYTES + Buffer.byteLength(text);
      const ms = volume.wait(bytes);
      volume.consume(bytes);
      if (ms === 0) return say(make);
      return slow(ms).then(() => (gone.signal.aborted ? undefined : say(make)));
    }

    function say(make: Parameters<Send>[0]): Promise<void> | void {
      const said = place ? place.say(make, context()) : notJoined;
      if (isRejection(said)) return refuse(refusalOf(said));
      const over = () => void talking.delete(done);
      const done = said.then(over, (error) => {
        over();
        away(error);
      });
      talking.add(done);
      // Once there is too much of it all together, each has one thing under way.
      const { used, limit } = talk.waiting;
      if (talking.size >= TALKING || used() >= limit) return Promise.race(talking);
    }

    const signal =
      (how: 'told' | 'passed') =>
      (message: ClientMessageOf<keyof typeof signalTypes>): Promise<void> | void => {
        if (!place) return refuse(refusalOf(notJoined));
        const { roomId, participantId } = place;
        const whole = { timestamp: clock.now(), ...message, roomId, participantId } as unknown as Signal;
        const relayed: Promise<void> | void | Rejection = signals.relay(place, whole, how);
        if (isRejection(relayed)) return refuse(refusalOf(relayed));
        return relayed as Promise<void> | void;
      };

    const does =
      (type: 'RaiseHand' | 'LowerHand' | 'LockRoom' | 'UnlockRoom' | 'StartRecording' | 'StopRecording') => () =>
        decide(() => act({ type }));

    const ACTIONS = {
      mute: 'MuteParticipant',
      unmute: 'UnmuteParticipant',
      kick: 'KickParticipant',
      'make-moderator': 'PromoteParticipant',
    } as const;

    const kinds: Kinds = {
      join: (message) => decide(() => join(message)),
      leave: () => decide(leave),
      offer: signal('told'),
      answer: signal('told'),
      'ice-candidate': signal('told'),
      'file-offer': signal('passed'),
      'file-answer': signal('passed'),
      'file-chunk': signal('passed'),
      chat: ({ text, replyTo }) => sayAll(text, (saying) => chatSent(saying, text, replyTo)),
      reaction({ reaction: said }) {
        const reaction = said.trim();
        if ([...reaction].length > REACTION_LENGTH || !isVisible(reaction))
          return refuse(['INVALID_MESSAGE', `reaction must be 1 to ${REACTION_LENGTH} characters`]);
        return sayAll(reaction, (saying) => reactionSent(saying, reaction));
      },
      'participant-updated': ({ isMuted, isVideoOff, isHandRaised }) =>
        decide(() => act({ type: 'UpdateOneself', isMuted, isVideoOff, isHandRaised })),
      'raise-hand': does('RaiseHand'),
      'lower-hand': does('LowerHand'),
      'recording-started': does('StartRecording'),
      'recording-stopped': does('StopRecording'),
      'room-locked': does('LockRoom'),
      'room-unlocked': does('UnlockRoom'),
      'moderator-action': ({ targetId: participantId, action }) =>
        decide(() => act({ type: ACTIONS[action], participantId })),
      'admit-user': ({ targetId: participantId }) => decide(() => act({ type: 'AdmitUser', participantId })),
      'reject-user': ({ targetId: participantId, reason }) =>
        decide(() => act({ type: 'RejectUser', participantId, reason })),
    };

    return {
      onMessage(message) {
        const become = kinds[message.type as ClientMessage['type']] as (message: unknown) => Promise<void> | void;
        return become(message)?.catch(away);
      },
      misunderstood: (misunderstanding) => refuse(misunderstandingOf(misunderstanding)),
      onClose(code) {
        gone.abort();
        void depart(LOST.has(code) ? deps.returnMs : 0);
      },
    };

    /** Wherever they sit once what they said before is decided. Their place is held for so many ms. */
    async function depart(heldMs: number) {
      await Promise.allSettled([deciding, ...talking]);
      const all = [place, doubtful].filter((each) => each !== undefined);
      [place, doubtful] = [undefined, undefined];
      if (!isClosing()) await Promise.all(all.map((each) => inside.leaveWhenDisconnected(each, context, heldMs)));
    }
  };
