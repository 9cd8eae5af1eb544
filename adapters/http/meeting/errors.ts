/** Maps rejections and unreadable messages to error messages of the meeting WebSocket. */
import type { ErrorCode } from '../../../application/meeting/audience/messages.js';
import type { Rejection } from '../../../domain/shared/index.js';
import type { MessageError } from '../../realtime/websocket/client-messages.js';

export type ErrorAnswer = readonly [code: ErrorCode, text: string];

const ERRORS: { readonly [rejected: string]: ErrorAnswer } = {
  'meeting/room-full': ['ROOM_FULL', 'The room is full'],
  'meeting/wrong-password': ['INVALID_PASSWORD', 'Wrong password'],
  'meeting/room-not-found': ['ROOM_NOT_FOUND', 'The meeting does not exist'],
  'meeting/not-a-moderator': ['UNAUTHORIZED', 'Only moderators may do this'],
  'meeting/not-joined': ['NOT_JOINED', 'Join a room first'],
  'meeting/too-many-rooms': ['INVALID_MESSAGE', 'Too many rooms, try again later'],
  'meeting/target-not-found': ['TARGET_NOT_FOUND', 'The person is not in the room'],
};

export const rejectionError = ({ rejected, detail }: Rejection): ErrorAnswer =>
  ERRORS[rejected] ?? ['INVALID_MESSAGE', detail ?? 'The request was rejected'];

export function unreadableMessageError(misunderstanding: MessageError): ErrorAnswer {
  switch (misunderstanding.why) {
    case 'unknown-type':
      return ['UNKNOWN_MESSAGE_TYPE', 'Unknown message type'];
    case 'wrong':
      return ['INVALID_MESSAGE', misunderstanding.error.message];
    case 'too-many':
      return ['INVALID_MESSAGE', 'Too many messages'];
    case 'unreadable':
      return ['INVALID_MESSAGE', 'A message must be a JSON object with a type'];
  }
}
