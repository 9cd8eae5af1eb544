/** Who in a meeting is told what: every socket listens under the id of the participant who is behind it. */
import type { MeetingEvent, RoomEvent, SaidEvent } from '../../../domain/meeting/catalog.js';
import { after, initialState, type Person, personOf, type RoomState } from '../../../domain/meeting/state.js';
import { PersistentMap } from '../../../domain/shared/index.js';
import type { RevealedEvent } from '../../ports/index.js';
import type { Audience, Delivery, EventRouting, Message } from '../../subscription/index.js';
import {
  type About,
  chat,
  connectionOk,
  failed,
  handLowered,
  handRaised,
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
  /** With which somebody can come back as who they were, when their connection has broken. */
  readonly resumeToken: (participantId: string) => string;
}

/** The close codes of those who have to go. */
const KICKED = 4003;
const REJECTED = 4004;
/** Of the protocol: the service restarts. */
const COME_BACK = 1012;

/** What has happened, and the room after it. */
interface Happening {
  readonly room: RoomState;
  /** To whom. */
  readonly of: About;
  /** By whom; by themselves where nobody else is named. */
  readonly by: About;
}

type Event = RevealedEvent<RoomEvent>;

const roomIn = (rooms: Rooms, { data: { roomId } }: Event): RoomState => rooms.get(roomId) ?? initialState;

/** An event means to the room what it means to its rules. */
function evolve(rooms: Rooms, event: Event): Rooms {
  const { roomId } = event.data;
  const room = after(roomIn(rooms, event), [event]);
  return room.isOpen ? rooms.set(roomId, room) : rooms.delete(roomId);
}

/** Of a meeting that is erased the log may tell nothing else: not how it ended, nor who has left, since a snapshot was kept. */
const withoutErased = (rooms: Rooms, { data: { roomId, meetingId } }: RevealedEvent<RoomEvent<'MeetingErased'>>) =>
  rooms.get(roomId)?.meetingId === meetingId ? rooms.delete(roomId) : rooms;

function happening(event: Event, room: RoomState): Happening {
  const {
    roomId,
    participantId = '',
    by = participantId,
  } = event.data as Partial<About> & {
    readonly roomId: string;
    readonly by?: string;
  };
  const there = { roomId, at: event.recordedAt };
  return { room, of: { ...there, participantId }, by: { ...there, participantId: by } };
}

const hearing = (deliver: (happened: Happening) => readonly Delivery[]): EventRouting<Rooms, Event> => ({
  evolve,
  deliver: (event, rooms) => deliver(happening(event, roomIn(rooms, event))),
});

/** Who is in the room no more, or whose meeting is over, is not heard. */
const spoken = <Type extends SaidEvent['type']>(
  deliver: (
    event: RevealedEvent<MeetingEvent<Type>>,
    room: RoomState,
    person: Person,
    by: About,
  ) => readonly Delivery[],
): EventRouting<Rooms, RevealedEvent<MeetingEvent<Type>>> => ({
  deliver(event, rooms) {
    const { roomId, meetingId, participantId, sentAt: at }: SaidEvent['data'] = event.data;
    const room = rooms.get(roomId);
    const person = room?.meetingId === meetingId ? personOf(room, participantId) : undefined;
    return room && person ? deliver(event, room, person, { roomId, participantId, at }) : [];
  },
});

const ids = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id);
const everybody = ({ people }: RoomState) => ids(people);
const others = ({ people }: RoomState, but: string) => ids(people).filter((id) => id !== but);
const moderators = ({ people }: RoomState) => ids(people.filter(({ isModerator }) => isModerator));
const waiterOf = ({ waiting }: RoomState, id: string) => waiting.find((each) => each.id === id);

/** Nothing where there is nobody. */
const tell = (to: readonly string[], ...messages: readonly Message[]): readonly Delivery[] =>
  to.length === 0 ? [] : messages.map((message) => ({ to, message }));

/** How somebody appears now, to all of these. */
function updated(to: readonly string[], { room, of }: Happening): readonly Delivery[] {
  const person = personOf(room, of.participantId);
  return person ? tell(to, participantUpdated(of, person)) : [];
}

const waiters = ({ room, of }: Happening): readonly Message[] => room.waiting.map((each) => waitingRoom(of, each));

/** A moderator's action upon somebody who is there: they are told of it, and everybody of what has come of it. */
const acted = (action: 'mute' | 'unmute' | 'make-moderator') =>
  hearing((happened) => {
    const { room, of, by } = happened;
    return [
      ...tell([of.participantId], moderatorAction(by, of.participantId, action)),
      ...updated(everybody(room), happened),
      ...tell([of.participantId], ...(action === 'make-moderator' ? waiters(happened) : [])),
    ];
  });

/** What the others hear, and see. */
const hand = (told: (of: About) => Message) =>
  hearing((happened) => {
    const rest = others(happened.room, happened.of.participantId);
    return [...tell(rest, told(happened.of)), ...updated(rest, happened)];
  });

/** With whoever records, their recording is over; nobody else says so. */
const unrecorded = (before: RoomState, { room, of }: Happening): readonly Delivery[] =>
  before.recordingBy === of.participantId && !room.recordingBy ? tell(everybody(room), recordingStopped(of)) : [];

/** To a socket that is still there, though its node was taken for dead, they are gone as well: it is to come back. */
const gone = (
  who: (room: RoomState) => readonly string[],
): EventRouting<Rooms, RevealedEvent<RoomEvent<'ParticipantLeft' | 'EntryWithdrawn'>>> => ({
  evolve,
  deliver(event, rooms, before) {
    const happened = happening(event, roomIn(rooms, event));
    const { room, of } = happened;
    const message = participantLeft(of);
    const still = { to: [of.participantId], message, ends: true, endCode: COME_BACK };
    return [
      ...(event.data.isLost ? [still] : []),
      ...tell(who(room), message),
      ...unrecorded(roomIn(before, event), happened),
    ];
  },
});

const told = (of: (by: About) => Message) => hearing(({ room, by }) => tell(everybody(room), of(by)));

export function createMeetingAudience({ resumeToken }: MeetingAudienceOptions): Audience<Rooms, MeetingEvent> {
  const own = ({ of }: Happening) => ({ resumeToken: resumeToken(of.participantId) });

  /** All that somebody must know who has just come in; first of it, that they are. */
  function welcome(happened: Happening, person: Person): readonly Delivery[] {
    const { room, of } = happened;
    const present = room.people.filter(({ id }) => id !== person.id);
    const by = (participantId: string) => ({ ...of, participantId });
    return tell(
      [person.id],
      participantJoined(of, person, own(happened)),
      ...present.map((each) => participantJoined(of, each)),
      // Also their own, of who comes back.
      ...room.people
        .filter(({ isHandRaised, isLost }) => isHandRaised || isLost)
        .map((each) => participantUpdated(of, each)),
      ...(room.lockedBy ? [roomLocked(by(room.lockedBy))] : []),
      ...(room.recordingBy ? [recordingStarted(by(room.recordingBy))] : []),
      ...(person.isModerator ? waiters(happened) : []),
    );
  }

  /** Whoever came in hears of it first; the others also that the connection of somebody admitted is lost. */
  const entered = hearing((happened) => {
    const { room, of } = happened;
    const person = personOf(room, of.participantId);
    if (!person) return [];
    const [first, ...rest] = welcome(happened, person);
    const connection = person.isLost ? [participantUpdated(of, person)] : [];
    return [first!, ...tell(others(room, person.id), participantJoined(of, person), ...connection), ...rest];
  });

  return {
    initialState: PersistentMap.empty(),
    snapshot,
    on: {
      RoomOpened: { evolve },
      ParticipantJoined: entered,
      EntryGranted: entered,
      EntryRequested: hearing((happened) => {
        const { room, of } = happened;
        const person = waiterOf(room, of.participantId);
        if (!person) return [];
        return [
          ...tell([person.id], waitingRoom(of, person, own(happened))),
          ...tell(moderators(room), waitingRoom(of, person)),
        ];
      }),
      EntryRefused: {
        evolve,
        deliver(event, rooms) {
          const { room, of, by } = happening(event, roomIn(rooms, event));
          const message = rejectUser(by, of.participantId, event.data.secret.reason);
          return [
            { to: [of.participantId], message, ends: true, endCode: REJECTED },
            ...tell(moderators(room), participantLeft(of)),
          ];
        },
      },
      EntryWithdrawn: gone(moderators),
      ParticipantReturned: {
        evolve,
        deliver(event, rooms, before) {
          const happened = happening(event, roomIn(rooms, event));
          const { room, of } = happened;
          const person = personOf(room, of.participantId);
          if (person) {
            const wasLost = personOf(roomIn(before, event), person.id)?.isLost;
            const again = wasLost ? tell(others(room, person.id), connectionOk(of, person)) : [];
            return [...welcome(happened, person), ...again];
          }
          const waits = waiterOf(room, of.participantId);
          return waits ? tell([waits.id], waitingRoom(of, waits, own(happened))) : [];
        },
      },
      ParticipantRejoined: entered,
      ConnectionLost: hearing((happened) => updated(others(happened.room, happened.of.participantId), happened)),
      ParticipantLeft: gone(everybody),
      ParticipantKicked: {
        evolve,
        deliver(event, rooms, before) {
          const happened = happening(event, roomIn(rooms, event));
          const { room, of, by } = happened;
          const message = moderatorAction(by, of.participantId, 'kick');
          return [
            { to: [of.participantId], message, ends: true, endCode: KICKED },
            ...tell(everybody(room), participantLeft(of)),
            ...unrecorded(roomIn(before, event), happened),
          ];
        },
      },
      ParticipantUpdated: hearing((happened) => updated(others(happened.room, happened.of.participantId), happened)),
      HandRaised: hand(handRaised),
      HandLowered: hand(handLowered),
      ParticipantMuted: acted('mute'),
      ParticipantUnmuted: acted('unmute'),
      ParticipantPromoted: acted('make-moderator'),
      RoomLocked: told(roomLocked),
      RoomUnlocked: told(roomUnlocked),
      RecordingStarted: told(recordingStarted),
      RecordingStopped: told(recordingStopped),
      ChatSent: spoken<'ChatSent'>(({ data: { secret } }, room, person, by) =>
        tell(everybody(room), chat(by, person, secret)),
      ),
      ReactionSent: spoken<'ReactionSent'>(({ data: { secret } }, room, { id }, by) =>
        tell(others(room, id), reaction(by, secret.reaction)),
      ),
      RoomEnded: {
        evolve,
        /** Those who still wait, wait for nothing. */
        deliver(event, _, rooms) {
          const { room, of } = happening(event, roomIn(rooms, event));
          return room.waiting.flatMap(({ id }) =>
            tell([id], failed({ ...of, participantId: id }, 'ROOM_NOT_FOUND', 'The meeting is over')),
          );
        },
      },
      RoomRequested: {},
      SignalRelayed: {},
      MeetingErased: { evolve: withoutErased },
    },
  };
}
