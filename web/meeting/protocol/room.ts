/** Room state as one participant sees it: a fold of the messages received. */
import type { ServerMessage } from './messages.js';

export interface Person {
  readonly name: string;
  readonly isModerator: boolean;
  readonly isMuted: boolean;
  readonly isVideoOff: boolean;
  readonly isHandRaised: boolean;
  /** Lost their connection to the service; they may reconnect soon. */
  readonly isDisconnected: boolean;
}

export interface Room {
  /** Our own participant id; unknown before the first message. */
  readonly me: string | undefined;
  /** False while we wait to be admitted. */
  readonly isInside: boolean;
  /** In order of joining, ourselves first. */
  readonly people: ReadonlyMap<string, Person>;
  /** Names of waiting people by id. */
  readonly waiting: ReadonlyMap<string, string>;
  readonly isLocked: boolean;
  readonly recordingBy: string | undefined;
  /** Ids in the order in which hands were raised; may contain people who have lowered their hand (see `raisedHands`). */
  readonly handOrder: readonly string[];
}

export const emptyRoom: Room = {
  me: undefined,
  isInside: false,
  people: new Map(),
  waiting: new Map(),
  isLocked: false,
  recordingBy: undefined,
  handOrder: [],
};

export const isModerator = ({ me, people }: Room): boolean =>
  (me !== undefined && people.get(me)?.isModerator) ?? false;

/** Ids of people with a raised hand, the first raised first. */
export const raisedHands = ({ people, handOrder }: Room): readonly string[] =>
  handOrder.filter((id) => people.get(id)?.isHandRaised);

function withHand(order: readonly string[], id: string, isRaised: boolean): readonly string[] {
  if (isRaised) return order.includes(id) ? order : [...order, id];
  return order.filter((each) => each !== id);
}

function without<Value>(map: ReadonlyMap<string, Value>, id: string): ReadonlyMap<string, Value> {
  const rest = new Map(map);
  rest.delete(id);
  return rest;
}

const withOne = <Value>(map: ReadonlyMap<string, Value>, id: string, value: Value) => new Map([...map, [id, value]]);

/** Applies a message. The first one about a participant is about ourselves. */
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
      const existing = room.people.get(id);
      if (!existing) return room;
      const { isModerator, isMuted, isVideoOff, isHandRaised } = message;
      const isDisconnected = message.connection === 'lost';
      const person = { ...existing, isModerator, isMuted, isVideoOff, isHandRaised, isDisconnected };
      const handOrder = withHand(room.handOrder, id, isHandRaised);
      return { ...room, people: withOne(room.people, id, person), handOrder };
    }
    case 'participant-left':
      return {
        ...room,
        people: without(room.people, id),
        waiting: without(room.waiting, id),
        handOrder: withHand(room.handOrder, id, false),
        // Leaving ends the participant's recording.
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

/** Whether a message changes the state. After a reconnect the service repeats everything. */
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

/** Applies our own change; the service notifies only the others of it. */
export function changeOwnFlags(room: Room, flags: Partial<Person>): Room {
  const { me = '', people, handOrder } = room;
  const own = people.get(me);
  if (!own) return room;
  const { isHandRaised = own.isHandRaised } = flags;
  return {
    ...room,
    people: withOne(people, me, { ...own, ...flags }),
    handOrder: withHand(handOrder, me, isHandRaised),
  };
}
