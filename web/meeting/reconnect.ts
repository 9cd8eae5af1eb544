/** What was known before the connection was lost, and may not be so any more when it is back. */
import type { Base, ServerMessage } from './messages.js';
import { applyMessage, emptyRoom, type Room } from './room.js';

/** The room as it was, with ourselves as the service tells now; a room that we wait for is not known. */
export function roomOnReturn(before: Room, message: ServerMessage): Room {
  const now = applyMessage(emptyRoom, message);
  if (!now.isInside) return now;
  const others = [...before.people].filter(([id]) => id !== before.me && id !== now.me);
  return { ...before, me: now.me, isInside: true, people: new Map([...now.people, ...others]) };
}

/** For each thing that the service is to tell again, the message to assume when it does not. */
export function unconfirmedOf(
  { me, people, waiting, isLocked, recordingBy }: Room,
  { roomId, timestamp }: Base,
): Map<string, ServerMessage> {
  const otherIds = [...people.keys(), ...waiting.keys()].filter((id) => id !== me);
  const assumed = (type: 'participant-left' | 'room-unlocked', participantId = '') =>
    ({ type, roomId, participantId, timestamp }) as const;
  const all = new Map<string, ServerMessage>(otherIds.map((id) => [id, assumed('participant-left', id)]));
  if (isLocked) all.set('lock', assumed('room-unlocked'));
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

/** The key of what a message makes certain. */
export const confirmedBy = ({ type, participantId }: ServerMessage): string => TOPICS[type] ?? participantId;
