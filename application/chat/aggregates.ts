/** The kinds of streams of the chat, as the kernel takes them. */
import { type AuditEvent, audit } from '../../domain/chat/audit-log.js';
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
  type RequestConversation,
  type RequestEvent,
  type RequestState,
  request,
} from '../../domain/chat/conversation-request.js';
import {
  type FileCommand,
  type FileEvent,
  type FileState,
  file,
  fileNotFound,
} from '../../domain/chat/file.js';
import {
  type MessageCommand,
  type MessageEvent,
  type MessageState,
  message,
  messageNotFound,
} from '../../domain/chat/message.js';
import { type OAuthReturned, type OAuthState, oauth, type SpendState } from '../../domain/chat/oauth.js';
import {
  type AddressCommand,
  type AddressEvent,
  type AddressState,
  address,
} from '../../domain/chat/one-time-links.js';
import {
  type PasswordSet,
  type PasswordState,
  password,
  type SetPassword,
} from '../../domain/chat/password.js';
import {
  type PresenceCommand,
  type PresenceEvent,
  type PresenceState,
  presence,
} from '../../domain/chat/presence.js';
import { type RosterCommand, type RosterEvent, type RosterState, roster } from '../../domain/chat/roster.js';
import {
  type RenameServer,
  type ServerEvent,
  type ServerState,
  server,
} from '../../domain/chat/server-settings.js';
import {
  SESSION_EVENTS,
  type SessionCommand,
  type SessionEvent,
  type SessionsState,
  session,
} from '../../domain/chat/session.js';
import type { Aggregate, Blind } from '../command/aggregate-store.js';

export const rosterKind: Aggregate<RosterState, RosterCommand, RosterEvent> = { catalog, decider: roster };

export const passwordKind: Aggregate<PasswordState, SetPassword, PasswordSet> = {
  catalog,
  decider: password,
  saysAll: () => true,
};

export const addressKind: Blind<AddressState, AddressCommand, AddressEvent> = {
  catalog,
  decider: address,
  blind: true,
  expires: true,
};

/** A stream is born of the return of its state; kept for a time only. */
export const oauthKind: Aggregate<OAuthState, SpendState, OAuthReturned> = {
  catalog,
  decider: oauth,
  begins: () => true,
  expires: true,
};

export const sessionKind: Aggregate<SessionsState, SessionCommand, SessionEvent> = {
  catalog,
  decider: session,
  keeps: SESSION_EVENTS,
  expires: true,
};

export const serverKind: Aggregate<ServerState, RenameServer, ServerEvent> = {
  catalog,
  decider: server,
  saysAll: () => true,
};

export const channelsKind: Aggregate<ChannelsState, ChannelsCommand, ChannelsEvent> = {
  catalog,
  decider: channels,
};

/**
 * A thread may be of 100,000 replies, and no rule looks at what they say; nor at what a pin repeats. Of 5000 edits, each of
 * some ten kilobytes, what was said before another is nobody's business any more.
 */
export const messageKind: Aggregate<MessageState, MessageCommand, MessageEvent> = {
  catalog,
  decider: message,
  unread: ['ReplyPosted', 'ReplyEdited', 'MessagePinned', 'MessageUnpinned'] satisfies MessageEvent['type'][],
  replacing: ['MessagePosted', 'MessageEdited'] satisfies MessageEvent['type'][],
  begins: ({ type }) => type === 'PostMessage',
  ends: { told: messageNotFound, byEvent: ({ status }) => status === 'deleted' },
};

export const conversationKind: Aggregate<ConversationState, StartConversation, ConversationEvent> = {
  catalog,
  decider: conversation,
};

/** Of which there is nothing before the request itself; kept for a time only. */
export const requestKind: Aggregate<RequestState, RequestConversation, RequestEvent> = {
  catalog,
  decider: request,
  begins: () => true,
  expires: true,
};

/** Born of its upload, whose id it has. */
export const fileKind: Aggregate<FileState, FileCommand, FileEvent> = {
  catalog,
  decider: file,
  begins: ({ type }) => type === 'UploadFile',
  ends: { told: fileNotFound, byEvent: ({ status }) => status === 'discarded' },
};

export const presenceKind: Aggregate<PresenceState, PresenceCommand, PresenceEvent> = {
  catalog,
  decider: presence,
  keeps: 1,
};

export const auditKind: Aggregate<Record<never, never>, AuditEvent, AuditEvent> = {
  catalog,
  decider: audit,
  saysAll: () => true,
};
