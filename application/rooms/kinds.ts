/** The two kinds of streams a room has, as the kernel takes them. */
import { catalog } from '../../domain/rooms/catalog.js';
import {
  KEPT_MESSAGES,
  type MessagePosted,
  type MessagesState,
  messages,
  type PostMessage,
} from '../../domain/rooms/messages.js';
import { type RoomCommand, type RoomEvent, type RoomState, room } from '../../domain/rooms/room.js';
import type { Aggregate, Blind } from '../streams.js';

export const roomKind: Aggregate<RoomState, RoomCommand, RoomEvent> = { catalog, decider: room };
export const messagesKind: Blind<MessagesState, PostMessage, MessagePosted> = {
  catalog,
  decider: messages,
  keeps: KEPT_MESSAGES,
  blind: true,
};
