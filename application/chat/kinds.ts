/** The kinds of streams of the chat, as the kernel takes them. */
import { catalog } from '../../domain/chat/catalog.js';
import {
  type ChannelsCommand,
  type ChannelsEvent,
  type ChannelsState,
  channels,
} from '../../domain/chat/channels.js';
import {
  type ConversationEvent,
  type ConversationState,
  conversation,
  type StartConversation,
} from '../../domain/chat/conversation.js';
import {
  type MessageCommand,
  type MessageEvent,
  type MessageState,
  message,
  messageNotFound,
} from '../../domain/chat/message.js';
import {
  type PresenceCommand,
  type PresenceEvent,
  type PresenceState,
  presence,
} from '../../domain/chat/presence.js';
import { type RosterCommand, type RosterEvent, type RosterState, roster } from '../../domain/chat/roster.js';
import { type RenameServer, type ServerEvent, type ServerState, server } from '../../domain/chat/server.js';
import {
  type SessionCommand,
  type SessionEvent,
  type SessionsState,
  session,
} from '../../domain/chat/session.js';
import type { Aggregate } from '../command/streams.js';

export const rosterKind: Aggregate<RosterState, RosterCommand, RosterEvent> = { catalog, decider: roster };

export const sessionKind: Aggregate<SessionsState, SessionCommand, SessionEvent> = {
  catalog,
  decider: session,
  expires: true,
};

export const serverKind: Aggregate<ServerState, RenameServer, ServerEvent> = { catalog, decider: server };

export const channelsKind: Aggregate<ChannelsState, ChannelsCommand, ChannelsEvent> = {
  catalog,
  decider: channels,
};

/** A thread may be of 100,000 replies, and no rule looks at what they say. */
export const messageKind: Aggregate<MessageState, MessageCommand, MessageEvent> = {
  catalog,
  decider: message,
  unread: ['ReplyPosted', 'ReplyEdited'] satisfies readonly MessageEvent['type'][],
  begins: ({ type }) => type === 'PostMessage',
  ends: { told: messageNotFound, byEvent: ({ status }) => status === 'deleted' },
};

export const conversationKind: Aggregate<ConversationState, StartConversation, ConversationEvent> = {
  catalog,
  decider: conversation,
};

export const presenceKind: Aggregate<PresenceState, PresenceCommand, PresenceEvent> = {
  catalog,
  decider: presence,
  keeps: 1,
};
