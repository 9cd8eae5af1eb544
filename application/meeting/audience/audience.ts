/** Routes meeting events to recipients: each socket subscribes under its participant's id. */
import type { ChatEvent, MeetingEvent, RoomEvent } from '../../../domain/meeting/catalog.js';
import { applyEvents, initialState, type Person, personOf, type RoomState } from '../../../domain/meeting/state.js';
import { PersistentMap } from '../../../domain/shared/index.js';
import type { RevealedEvent } from '../../ports/index.js';
import type { Audience, Delivery, EventRouting, Message } from '../../subscription/index.js';
import {
  chat,
  connectionOk,
  errorMessage,
  handLowered,
  handRaised,
  type MessageHeader,
  moderatorAction,
  participantJoined,
  participantLeft,
  participantUpdated,
  reaction,
  recordingStarted,
  recordingStopped,
  rejectUser,
  roomLocked,
  roomUnlocked,
  waitingRoom,
} from './messages.js';
import { type Rooms, snapshot } from './snapshot.js';

export type { Rooms } from './snapshot.js';

export interface MeetingAudienceOptions {
  /** Creates the token with which a participant rejoins after losing the connection. */
  readonly resumeToken: (participantId: string) => string;
}

/** Close codes for removed participants. */
const KICKED = 4003;
const REJECTED = 4004;
/** WebSocket close code 1012: the client should reconnect. */
const SERVICE_RESTART = 1012;

/** An event's participants, and the room after the event. */
interface EventContext {
  readonly room: RoomState;
  /** The participant the event is about. */
  readonly subject: MessageHeader;
  /** The participant who caused the event; the subject if the event names no other. */
  readonly actor: MessageHeader;
}

type Event = RevealedEvent<RoomEvent>;

const roomIn = (rooms: Rooms, { data: { roomId } }: Event): RoomState => rooms.get(roomId) ?? initialState;

/** Applies an event with the rules of the domain. */
function evolve(rooms: Rooms, event: Event): Rooms {
  const { roomId } = event.data;
  const room = applyEvents(roomIn(rooms, event), [event]);
  return room.isOpen ? rooms.set(roomId, room) : rooms.delete(roomId);
}

/** Removes an erased meeting that is still open here, from a snapshot older than its truncated end event. */
const removeErased = (rooms: Rooms, { data: { roomId, meetingId } }: RevealedEvent<RoomEvent<'MeetingErased'>>) =>
  rooms.get(roomId)?.meetingId === meetingId ? rooms.delete(roomId) : rooms;

function contextOf(event: Event, room: RoomState): EventContext {
  const {
    roomId,
    participantId = '',
    by = participantId,
  } = event.data as Partial<MessageHeader> & {
    readonly roomId: string;
    readonly by?: string;
  };
  const place = { roomId, at: event.recordedAt };
  return { room, subject: { ...place, participantId }, actor: { ...place, participantId: by } };
}

const onRoomEvent = (deliver: (context: EventContext) => readonly Delivery[]): EventRouting<Rooms, Event> => ({
  evolve,
  deliver: (event, rooms) => deliver(contextOf(event, roomIn(rooms, event))),
});

/** Routes chat and reactions. Drops those of senders who have left, and of ended meetings. */
const onChatEvent = <Type extends ChatEvent['type']>(
  deliver: (
    event: RevealedEvent<MeetingEvent<Type>>,
    room: RoomState,
    person: Person,
    by: MessageHeader,
  ) => readonly Delivery[],
): EventRouting<Rooms, RevealedEvent<MeetingEvent<Type>>> => ({
  deliver(event, rooms) {
    const { roomId, meetingId, participantId, sentAt: at }: ChatEvent['data'] = event.data;
    const room = rooms.get(roomId);
    const person = room?.meetingId === meetingId ? personOf(room, participantId) : undefined;
    return room && person ? deliver(event, room, person, { roomId, participantId, at }) : [];
  },
});

const ids = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id);
const allIds = ({ people }: RoomState) => ids(people);
const otherIds = ({ people }: RoomState, excludedId: string) => ids(people).filter((id) => id !== excludedId);
const moderatorIds = ({ people }: RoomState) => ids(people.filter(({ isModerator }) => isModerator));
const waitingPersonOf = ({ waiting }: RoomState, id: string) => waiting.find((each) => each.id === id);

/** Returns deliveries to the recipients, none if there are no recipients. */
const deliveries = (to: readonly string[], ...messages: readonly Message[]): readonly Delivery[] =>
  to.length === 0 ? [] : messages.map((message) => ({ to, message }));

/** Sends the participant's current state to the recipients. */
function updateDeliveries(to: readonly string[], { room, subject }: EventContext): readonly Delivery[] {
  const person = personOf(room, subject.participantId);
  return person ? deliveries(to, participantUpdated(subject, person)) : [];
}

const waitingMessages = ({ room, subject }: EventContext): readonly Message[] =>
  room.waiting.map((each) => waitingRoom(subject, each));

/** A moderator's action: notifies its target, then everyone of the new state. */
const onModeratorAction = (action: 'mute' | 'unmute' | 'make-moderator') =>
  onRoomEvent((context) => {
    const { room, subject, actor } = context;
    return [
      ...deliveries([subject.participantId], moderatorAction(actor, subject.participantId, action)),
      ...updateDeliveries(allIds(room), context),
      ...deliveries([subject.participantId], ...(action === 'make-moderator' ? waitingMessages(context) : [])),
    ];
  });

/** Notifies the others of a raised or lowered hand, and of the new state. */
const onHandChange = (createMessage: (subject: MessageHeader) => Message) =>
  onRoomEvent((context) => {
    const rest = otherIds(context.room, context.subject.participantId);
    return [...deliveries(rest, createMessage(context.subject)), ...updateDeliveries(rest, context)];
  });

/** Announces the end of a recording when its recorder leaves; no event of its own says so. */
const recordingEnd = (before: RoomState, { room, subject }: EventContext): readonly Delivery[] =>
  before.recordingBy === subject.participantId && !room.recordingBy
    ? deliveries(allIds(room), recordingStopped(subject))
    : [];

/** Routes a departure. Sockets of a node falsely taken for dead are closed with 1012, so that they reconnect. */
const onDeparture = (
  recipientsOf: (room: RoomState) => readonly string[],
): EventRouting<Rooms, RevealedEvent<RoomEvent<'ParticipantLeft' | 'EntryWithdrawn'>>> => ({
  evolve,
  deliver(event, rooms, before) {
    const context = contextOf(event, roomIn(rooms, event));
    const { room, subject } = context;
    const message = participantLeft(subject);
    const staleSocket = { to: [subject.participantId], message, ends: true, endCode: SERVICE_RESTART };
    return [
      ...(event.data.isLost ? [staleSocket] : []),
      ...deliveries(recipientsOf(room), message),
      ...recordingEnd(roomIn(before, event), context),
    ];
  },
});

/** Notifies everyone of a change by the actor. */
const onRoomChange = (createMessage: (actor: MessageHeader) => Message) =>
  onRoomEvent(({ room, actor }) => deliveries(allIds(room), createMessage(actor)));

export function createMeetingAudience({ resumeToken }: MeetingAudienceOptions): Audience<Rooms, MeetingEvent> {
  const withResumeToken = ({ subject }: EventContext) => ({ resumeToken: resumeToken(subject.participantId) });

  /** Describes the room to a new participant, starting with their own join. */
  function welcome(context: EventContext, person: Person): readonly Delivery[] {
    const { room, subject } = context;
    const present = room.people.filter(({ id }) => id !== person.id);
    const headerOf = (participantId: string) => ({ ...subject, participantId });
    return deliveries(
      [person.id],
      participantJoined(subject, person, withResumeToken(context)),
      ...present.map((each) => participantJoined(subject, each)),
      // Includes the participant's own raised hand when they come back.
      ...room.people
        .filter(({ isHandRaised, isDisconnected }) => isHandRaised || isDisconnected)
        .map((each) => participantUpdated(subject, each)),
      ...(room.lockedBy ? [roomLocked(headerOf(room.lockedBy))] : []),
      ...(room.recordingBy ? [recordingStarted(headerOf(room.recordingBy))] : []),
      ...(person.isModerator ? waitingMessages(context) : []),
    );
  }

  /** Notifies an entering participant first, then the others, who also learn of a lost connection. */
  const onEntry = onRoomEvent((context) => {
    const { room, subject } = context;
    const person = personOf(room, subject.participantId);
    if (!person) return [];
    const [first, ...rest] = welcome(context, person);
    const connection = person.isDisconnected ? [participantUpdated(subject, person)] : [];
    return [
      first!,
      ...deliveries(otherIds(room, person.id), participantJoined(subject, person), ...connection),
      ...rest,
    ];
  });

  return {
    initialState: PersistentMap.empty(),
    snapshot,
    on: {
      RoomOpened: { evolve },
      ParticipantJoined: onEntry,
      EntryGranted: onEntry,
      EntryRequested: onRoomEvent((context) => {
        const { room, subject } = context;
        const person = waitingPersonOf(room, subject.participantId);
        if (!person) return [];
        return [
          ...deliveries([person.id], waitingRoom(subject, person, withResumeToken(context))),
          ...deliveries(moderatorIds(room), waitingRoom(subject, person)),
        ];
      }),
      EntryRefused: {
        evolve,
        deliver(event, rooms) {
          const { room, subject, actor } = contextOf(event, roomIn(rooms, event));
          const message = rejectUser(actor, subject.participantId, event.data.secret.reason);
          return [
            { to: [subject.participantId], message, ends: true, endCode: REJECTED },
            ...deliveries(moderatorIds(room), participantLeft(subject)),
          ];
        },
      },
      EntryWithdrawn: onDeparture(moderatorIds),
      ParticipantReturned: {
        evolve,
        deliver(event, rooms, before) {
          const context = contextOf(event, roomIn(rooms, event));
          const { room, subject } = context;
          const person = personOf(room, subject.participantId);
          if (person) {
            const wasDisconnected = personOf(roomIn(before, event), person.id)?.isDisconnected;
            const notice = wasDisconnected ? [connectionOk(subject, person)] : [];
            return [...welcome(context, person), ...deliveries(otherIds(room, person.id), ...notice)];
          }
          const waiter = waitingPersonOf(room, subject.participantId);
          return waiter ? deliveries([waiter.id], waitingRoom(subject, waiter, withResumeToken(context))) : [];
        },
      },
      ParticipantRejoined: onEntry,
      ConnectionLost: onRoomEvent((context) =>
        updateDeliveries(otherIds(context.room, context.subject.participantId), context),
      ),
      ParticipantLeft: onDeparture(allIds),
      ParticipantKicked: {
        evolve,
        deliver(event, rooms, before) {
          const context = contextOf(event, roomIn(rooms, event));
          const { room, subject, actor } = context;
          const message = moderatorAction(actor, subject.participantId, 'kick');
          return [
            { to: [subject.participantId], message, ends: true, endCode: KICKED },
            ...deliveries(allIds(room), participantLeft(subject)),
            ...recordingEnd(roomIn(before, event), context),
          ];
        },
      },
      ParticipantUpdated: onRoomEvent((context) =>
        updateDeliveries(otherIds(context.room, context.subject.participantId), context),
      ),
      HandRaised: onHandChange(handRaised),
      HandLowered: onHandChange(handLowered),
      ParticipantMuted: onModeratorAction('mute'),
      ParticipantUnmuted: onModeratorAction('unmute'),
      ParticipantPromoted: onModeratorAction('make-moderator'),
      RoomLocked: onRoomChange(roomLocked),
      RoomUnlocked: onRoomChange(roomUnlocked),
      RecordingStarted: onRoomChange(recordingStarted),
      RecordingStopped: onRoomChange(recordingStopped),
      ChatSent: onChatEvent<'ChatSent'>(({ data: { secret } }, room, person, by) =>
        deliveries(allIds(room), chat(by, person, secret)),
      ),
      ReactionSent: onChatEvent<'ReactionSent'>(({ data: { secret } }, room, { id }, by) =>
        deliveries(otherIds(room, id), reaction(by, secret.reaction)),
      ),
      RoomEnded: {
        evolve,
        /** Notifies the waiting people that the meeting has ended. */
        deliver(event, _, rooms) {
          const { room, subject } = contextOf(event, roomIn(rooms, event));
          return room.waiting.flatMap(({ id }) => {
            const header = { ...subject, participantId: id };
            return deliveries([id], errorMessage(header, 'ROOM_NOT_FOUND', 'The meeting has ended'));
          });
        },
      },
      RequestRecorded: {},
      SignalRelayed: {},
      MeetingErased: { evolve: removeErased },
    },
  };
}
