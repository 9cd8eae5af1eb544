/** Reconciles the room state after a reconnect. */
import type { Base, ServerMessage } from './messages.js';
import { applyMessage, emptyRoom, type Room } from './room.js';

/** Keeps the previous room and updates ourselves from the first message. A room in which we only wait is unknown. */
export function roomOnReturn(before: Room, message: ServerMessage): Room {
  const now = applyMessage(emptyRoom, message);
  if (!now.isInside) return now;
  const others = [...before.people].filter(([id]) => id !== before.me && id !== now.me);
  return { ...before, me: now.me, isInside: true, people: new Map([...now.people, ...others]) };
}

/** Returns, for each fact the service will repeat, the message to assume if it does not. */
export function unconfirmedOf(
  { me, people, waiting, isLocked, recordingBy }: Room,
  { roomId, timestamp }: Base,
): Map<string, ServerMessage> {
  const otherIds = [...people.keys(), ...waiting.keys()].filter((id) => id !== me);
  const assumedMessage = (type: 'participant-left' | 'room-unlocked', participantId = '') =>
    ({ type, roomId, participantId, timestamp }) as const;
  const all = new Map<string, ServerMessage>(otherIds.map((id) => [id, assumedMessage('participant-left', id)]));
  if (isLocked) all.set('lock', assumedMessage('room-unlocked'));
  if (recordingBy !== undefined)
    all.set('recording', {
      type: 'recording-stopped',
      roomId,
      participantId: recordingBy,
      timestamp,
      stoppedBy: recordingBy,
    });
  return all;
}

const TOPICS: { readonly [type: string]: string } = {
  'room-locked': 'lock',
  'room-unlocked': 'lock',
  'recording-started': 'recording',
  'recording-stopped': 'recording',
};

/** Key of the fact that a message confirms. */
export const confirmedBy = ({ type, participantId }: ServerMessage): string => TOPICS[type] ?? participantId;
