/** The two kinds of streams a room has, as the kernel takes them. */
import { catalog } from '../../domain/rooms/catalog.js';
import {
  MAX_MESSAGES,
  type MessagePosted,
  type MessagesState,
  messages,
  type PostMessage,
} from '../../domain/rooms/messages.js';
import { notFound, type RoomCommand, type RoomEvent, type RoomState, room } from '../../domain/rooms/room.js';
import type { Aggregate, SealedAggregate } from '../command/index.js';

/** Of a room that has ended everybody is told that there is none, whatever it was, and whatever they ask. */
export const roomAggregate: Aggregate<RoomState, RoomCommand, RoomEvent> = {
  catalog,
  decider: room,
  creates: ({ type }) => type === 'CreateRoom',
  termination: {
    rejection: notFound,
    byEvent: ({ status }) => status === 'burned' || status === 'expired',
    at: ({ expiresAt }) => expiresAt,
  },
};
export const messagesAggregate: SealedAggregate<MessagesState, PostMessage, MessagePosted> = {
  catalog,
  decider: messages,
  maxCount: MAX_MESSAGES,
  blind: true,
  termination: { rejection: notFound },
};
