/** The two kinds of streams a room has, as the kernel takes them. */
import { catalog } from '../../domain/rooms/catalog.js';
import {
  KEPT_MESSAGES,
  type MessagePosted,
  type MessagesState,
  messages,
  type PostMessage,
} from '../../domain/rooms/messages.js';
import { notFound, type RoomCommand, type RoomEvent, type RoomState, room } from '../../domain/rooms/room.js';
import type { Aggregate, Blind } from '../command/aggregate-store.js';

/** Of a room that has ended everybody is told that there is none, whatever it was, and whatever they ask. */
export const roomKind: Aggregate<RoomState, RoomCommand, RoomEvent> = {
  catalog,
  decider: room,
  begins: ({ type }) => type === 'CreateRoom',
  ends: {
    told: notFound,
    byEvent: ({ status }) => status === 'burned' || status === 'expired',
    at: ({ expiresAt }) => expiresAt,
  },
};
export const messagesKind: Blind<MessagesState, PostMessage, MessagePosted> = {
  catalog,
  decider: messages,
  keeps: KEPT_MESSAGES,
  blind: true,
  ends: { told: notFound },
};
