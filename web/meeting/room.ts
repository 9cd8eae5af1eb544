/** A meeting as one of its people sees it: a fold of what they are told. */
import type { ServerMessage } from './messages.js';

export interface Person {
  readonly name: string;
  readonly isModerator: boolean;
  readonly isMuted: boolean;
  readonly isVideoOff: boolean;
  readonly isHandRaised: boolean;
  /** Their connection to the service; they may be back soon. */
  readonly isDisconnected: boolean;
}

export interface Room {
  /** Unknown until we are told who we are. */
  readonly me: string | undefined;
  /** Whether we are inside; else we wait to be let in. */
  readonly isInside: boolean;
  /** In order of joining, but that we ourselves come first. */
  readonly people: ReadonlyMap<string, Person>;
  /** The names of those who wait to be let in. */
  readonly waiting: ReadonlyMap<string, string>;
  readonly isLocked: boolean;
  readonly recordingBy: string | undefined;
}

export const emptyRoom: Room = {
  me: undefined,
  isInside: false,
  people: new Map(),
  waiting: new Map(),
  isLocked: false,
  recordingBy: undefined,
};

export const isModerator = ({ me, people }: Room): boolean =>
  (me !== undefined && people.get(me)?.isModerator) ?? false;

function without<Value>(map: ReadonlyMap<string, Value>, id: string): ReadonlyMap<string, Value> {
  const rest = new Map(map);
  rest.delete(id);
  return rest;
}

const withOne = <Value>(map: ReadonlyMap<string, Value>, id: string, value: Value) => new Map([...map, [id, value]]);

/** The first that we are told of anybody is of ourselves. */
export function applyMessage(room: Room, message: ServerMessage): Room {
  const { participantId: id } = message;
  switch (message.type) {
    case 'participant-joined': {
      const { name, isModerator, isMuted, isVideoOff } = message;
      const person = { name, isModerator, isMuted, isVideoOff, isHandRaised: false, isDisconnected: false };
      const me = room.me ?? id;
      return {
        ...room,
        me,
        isInside: room.isInside || me === id,
        people: withOne(room.people, id, person),
        waiting: without(room.waiting, id),
      };
    }
    case 'waiting-room':
      if ((room.me ?? id) === id) return { ...room, me: id };
      return { ...room, waiting: withOne(room.waiting, id, message.name) };
    case 'participant-updated': {
      const known = room.people.get(id);
      if (!known) return room;
      const { isModerator, isMuted, isVideoOff, isHandRaised } = message;
      const isDisconnected = message.connection === 'lost';
      const person = { ...known, isModerator, isMuted, isVideoOff, isHandRaised, isDisconnected };
      return { ...room, people: withOne(room.people, id, person) };
    }
    case 'participant-left':
      return {
        ...room,
        people: without(room.people, id),
        waiting: without(room.waiting, id),
        // Whoever goes records no more.
        recordingBy: room.recordingBy === id ? undefined : room.recordingBy,
      };
    case 'room-locked':
      return { ...room, isLocked: true };
    case 'room-unlocked':
      return { ...room, isLocked: false };
    case 'recording-started':
      return { ...room, recordingBy: message.startedBy };
    case 'recording-stopped':
      return { ...room, recordingBy: undefined };
    default:
      return room;
  }
}

/** Whether a message tells what was not so before. After a lost connection the service tells everything again. */
export function isNewInformation(room: Room, message: ServerMessage): boolean {
  const { participantId: id } = message;
  switch (message.type) {
    case 'participant-joined':
      return !room.people.has(id);
    case 'waiting-room':
      return !room.waiting.has(id);
    case 'participant-left':
      return room.people.has(id) || room.waiting.has(id);
    case 'raise-hand':
      return !room.people.get(id)?.isHandRaised;
    case 'room-locked':
      return !room.isLocked;
    case 'room-unlocked':
      return room.isLocked;
    case 'recording-started':
      return room.recordingBy !== message.startedBy;
    default:
      return true;
  }
}

/** What we change of ourselves is told to the others only. */
export function changeOwnFlags(room: Room, flags: Partial<Person>): Room {
  const own = room.me === undefined ? undefined : room.people.get(room.me);
  return own ? { ...room, people: withOne(room.people, room.me!, { ...own, ...flags }) } : room;
}
