/** Builds the messages sent to meeting participants. Times are Unix ms. */
import { messageIdOf } from '../../../domain/meeting/meeting-chat.js';
import type { Person, WaitingPerson } from '../../../domain/meeting/state.js';
import type { Message } from '../../subscription/index.js';

/** Fields of every message: the room, the participant it is about, and its time. */
export interface MessageHeader {
  readonly roomId: string;
  readonly participantId: string;
  readonly at: number;
}

const message = (type: string, { roomId, participantId, at }: MessageHeader, more: object = {}): Message => ({
  type,
  roomId,
  participantId,
  timestamp: at,
  ...more,
});

interface EventPlace {
  readonly roomId: string;
  readonly at: number;
}

const headerOf = ({ roomId, at }: EventPlace, { id }: WaitingPerson): MessageHeader => ({
  roomId,
  participantId: id,
  at,
});

/** `more`: fields only the participant themselves receives. */
export function participantJoined(place: EventPlace, person: Person, more: object = {}): Message {
  const { name, isModerator, isMuted, isVideoOff } = person;
  return message('participant-joined', headerOf(place, person), {
    name,
    isModerator,
    isMuted,
    isVideoOff,
    ...more,
  });
}

/** `connection` is present only while the connection is lost. */
export function participantUpdated(place: EventPlace, person: Person): Message {
  const { isModerator, isMuted, isVideoOff, isHandRaised, isDisconnected } = person;
  const flags = { isModerator, isMuted, isVideoOff, isHandRaised };
  const connection = isDisconnected ? { connection: 'lost' } : {};
  return message('participant-updated', headerOf(place, person), { ...flags, ...connection });
}

/** Announces that a lost connection is restored. */
export const connectionOk = (place: EventPlace, person: Person): Message => ({
  ...participantUpdated(place, person),
  connection: 'ok',
});

export const waitingRoom = (place: EventPlace, person: WaitingPerson, more: object = {}): Message =>
  message('waiting-room', headerOf(place, person), { name: person.name, ...more });

export const participantLeft = (of: MessageHeader): Message => message('participant-left', of);
export const handRaised = (of: MessageHeader): Message => message('raise-hand', of);
export const handLowered = (of: MessageHeader): Message => message('lower-hand', of);

/** `participantId`: who locked the room. */
export const roomLocked = (by: MessageHeader): Message => message('room-locked', by, { lockedBy: by.participantId });
export const roomUnlocked = (by: MessageHeader): Message =>
  message('room-unlocked', by, { unlockedBy: by.participantId });
export const recordingStarted = (by: MessageHeader): Message =>
  message('recording-started', by, { startedBy: by.participantId });
export const recordingStopped = (by: MessageHeader): Message =>
  message('recording-stopped', by, { stoppedBy: by.participantId });

export type Action = 'mute' | 'unmute' | 'kick' | 'make-moderator';

/** `participantId`: the moderator. */
export const moderatorAction = (by: MessageHeader, targetId: string, action: Action): Message =>
  message('moderator-action', by, { targetId, action });

export const rejectUser = (by: MessageHeader, targetId: string, reason: string): Message =>
  message('reject-user', by, { targetId, reason });

/** Everyone, including the sender, receives the same message; `messageId` derives from its time and sender. */
export const chat = (
  by: MessageHeader,
  { name }: WaitingPerson,
  content: { text: string; replyTo?: string | undefined },
): Message =>
  message('chat', by, {
    name,
    text: content.text,
    ...(content.replyTo !== undefined && { replyTo: content.replyTo }),
    messageId: messageIdOf({ sentAt: by.at, participantId: by.participantId }),
  });

export const reaction = (by: MessageHeader, which: string): Message => message('reaction', by, { reaction: which });

export type ErrorCode =
  | 'ROOM_FULL'
  | 'INVALID_PASSWORD'
  | 'ROOM_NOT_FOUND'
  | 'UNAUTHORIZED'
  | 'NOT_JOINED'
  | 'TARGET_NOT_FOUND'
  | 'INVALID_MESSAGE'
  | 'UNKNOWN_MESSAGE_TYPE';

/** Room and participant are empty if unknown. */
export const errorMessage = (of: MessageHeader, code: ErrorCode, text: string): Message =>
  message('error', of, { code, message: text });
