/** Aggregate definitions of a room: the room itself and its messages. */
import { catalog } from '../../domain/rooms/catalog.js';
import {
  MAX_MESSAGES,
  type MessagePosted,
  type MessagesState,
  messages,
  type PostMessage,
} from '../../domain/rooms/messages.js';
import { notFound, type RoomCommand, type RoomEvent, type RoomState, room } from '../../domain/rooms/room.js';
import type { Aggregate } from '../command/index.js';

/** Every request on an ended room is answered "not found". */
export const roomAggregate: Aggregate<RoomState, RoomCommand, RoomEvent> = {
  catalog,
  decider: room,
  creates: ({ type }) => type === 'CreateRoom',
  termination: {
    rejection: notFound,
    isEnded: ({ status }) => status === 'burned' || status === 'expired',
    endsAt: ({ expiresAt }) => expiresAt,
  },
};
export const messagesAggregate: Aggregate<MessagesState, PostMessage, MessagePosted> = {
  catalog,
  decider: messages,
  decrypts: 'none',
  maxCount: MAX_MESSAGES,
  termination: { rejection: notFound },
};
