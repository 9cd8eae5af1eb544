/** What a meeting's people are told. Times are Unix ms. */
import { messageIdOf } from '../../../domain/meeting/meeting-chat.js';
import type { Person, Waiting } from '../../../domain/meeting/state.js';
import type { Message } from '../../subscription/index.js';

/** Which room, who it is about, and when. */
export interface About {
  readonly roomId: string;
  readonly participantId: string;
  readonly at: number;
}

const message = (type: string, { roomId, participantId, at }: About, more: object = {}): Message => ({
  type,
  roomId,
  participantId,
  timestamp: at,
  ...more,
});

interface There {
  readonly roomId: string;
  readonly at: number;
}

const about = ({ roomId, at }: There, { id }: Waiting): About => ({ roomId, participantId: id, at });

/** `more`: what only they themselves are told. */
export function participantJoined(there: There, person: Person, more: object = {}): Message {
  const { name, isModerator, isMuted, isVideoOff } = person;
  return message('participant-joined', about(there, person), {
    name,
    isModerator,
    isMuted,
    isVideoOff,
    ...more,
  });
}

/** `connection` is there only while it is lost. */
export function participantUpdated(there: There, person: Person): Message {
  const { isModerator, isMuted, isVideoOff, isHandRaised, isLost } = person;
  const flags = { isModerator, isMuted, isVideoOff, isHandRaised };
  const connection = isLost ? { connection: 'lost' } : {};
  return message('participant-updated', about(there, person), { ...flags, ...connection });
}

/** Somebody whose connection was lost is back. */
export const connectionOk = (there: There, person: Person): Message => ({
  ...participantUpdated(there, person),
  connection: 'ok',
});

export const waitingRoom = (there: There, person: Waiting, more: object = {}): Message =>
  message('waiting-room', about(there, person), { name: person.name, ...more });

export const participantLeft = (of: About): Message => message('participant-left', of);
export const handRaised = (of: About): Message => message('raise-hand', of);
export const handLowered = (of: About): Message => message('lower-hand', of);

/** `participantId`: who locked it. */
export const roomLocked = (by: About): Message => message('room-locked', by, { lockedBy: by.participantId });
export const roomUnlocked = (by: About): Message => message('room-unlocked', by, { unlockedBy: by.participantId });
export const recordingStarted = (by: About): Message =>
  message('recording-started', by, { startedBy: by.participantId });
export const recordingStopped = (by: About): Message =>
  message('recording-stopped', by, { stoppedBy: by.participantId });

export type Action = 'mute' | 'unmute' | 'kick' | 'make-moderator';

/** `participantId`: whose action it is. */
export const moderatorAction = (by: About, targetId: string, action: Action): Message =>
  message('moderator-action', by, { targetId, action });

export const rejectUser = (by: About, targetId: string, reason: string): Message =>
  message('reject-user', by, { targetId, reason });

/** The same to everybody, who speaks too: by the time and the sender a message is known. */
export const chat = (by: About, { name }: Waiting, said: { text: string; replyTo?: string | undefined }): Message =>
  message('chat', by, {
    name,
    text: said.text,
    ...(said.replyTo !== undefined && { replyTo: said.replyTo }),
    messageId: messageIdOf({ sentAt: by.at, participantId: by.participantId }),
  });

export const reaction = (by: About, which: string): Message => message('reaction', by, { reaction: which });

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
export const failed = (of: About, code: ErrorCode, text: string): Message =>
  message('error', of, { code, message: text });
