/** What a meeting's people are told. Times are Unix ms. */
import { messageIdOf } from '../../../domain/meeting/meeting-chat.js';
import type { Person, WaitingPerson } from '../../../domain/meeting/state.js';
import type { Message } from '../../subscription/index.js';

/** Which room, who it is about, and when. */
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

/** `more`: what only they themselves are told. */
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

/** `connection` is there only while it is lost. */
export function participantUpdated(place: EventPlace, person: Person): Message {
  const { isModerator, isMuted, isVideoOff, isHandRaised, isLost } = person;
  const flags = { isModerator, isMuted, isVideoOff, isHandRaised };
  const connection = isLost ? { connection: 'lost' } : {};
  return message('participant-updated', headerOf(place, person), { ...flags, ...connection });
}

/** Somebody whose connection was lost is back. */
export const connectionOk = (place: EventPlace, person: Person): Message => ({
  ...participantUpdated(place, person),
  connection: 'ok',
});

export const waitingRoom = (place: EventPlace, person: WaitingPerson, more: object = {}): Message =>
  message('waiting-room', headerOf(place, person), { name: person.name, ...more });

export const participantLeft = (of: MessageHeader): Message => message('participant-left', of);
export const handRaised = (of: MessageHeader): Message => message('raise-hand', of);
export const handLowered = (of: MessageHeader): Message => message('lower-hand', of);

/** `participantId`: who locked it. */
export const roomLocked = (by: MessageHeader): Message => message('room-locked', by, { lockedBy: by.participantId });
export const roomUnlocked = (by: MessageHeader): Message =>
  message('room-unlocked', by, { unlockedBy: by.participantId });
export const recordingStarted = (by: MessageHeader): Message =>
  message('recording-started', by, { startedBy: by.participantId });
export const recordingStopped = (by: MessageHeader): Message =>
  message('recording-stopped', by, { stoppedBy: by.participantId });

export type Action = 'mute' | 'unmute' | 'kick' | 'make-moderator';

/** `participantId`: whose action it is. */
export const moderatorAction = (by: MessageHeader, targetId: string, action: Action): Message =>
  message('moderator-action', by, { targetId, action });

export const rejectUser = (by: MessageHeader, targetId: string, reason: string): Message =>
  message('reject-user', by, { targetId, reason });

/** The same to everybody, who speaks too: by the time and the sender a message is known. */
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

/** The room and the person are empty unless known. */
export const errorMessage = (of: MessageHeader, code: ErrorCode, text: string): Message =>
  message('error', of, { code, message: text });
