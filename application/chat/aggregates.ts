/** Aggregates of the chat: deciders with their stream options. */
import { type AuditEvent, audit } from '../../domain/chat/audit-log.js';
import { catalog } from '../../domain/chat/catalog.js';
import {
  CHANNELS,
  type ChannelsCommand,
  type ChannelsEvent,
  type ChannelsState,
  channels,
} from '../../domain/chat/channels.js';
import {
  type ConversationEvent,
  type ConversationState,
  conversation,
  type RequestConversation,
  type RequestEvent,
  type RequestState,
  request,
  type StartConversation,
} from '../../domain/chat/conversation.js';
import { type FileCommand, type FileEvent, type FileState, file, fileNotFound } from '../../domain/chat/file.js';
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
import { type PasswordSet, type PasswordState, password, type SetPassword } from '../../domain/chat/password.js';
import { type PresenceCommand, type PresenceEvent, type PresenceState, presence } from '../../domain/chat/presence.js';
import { ROSTER, type RosterCommand, type RosterEvent, type RosterState, roster } from '../../domain/chat/roster.js';
import { type RenameServer, type ServerEvent, type ServerState, server } from '../../domain/chat/server-settings.js';
import {
  SESSION_EVENTS,
  type SessionCommand,
  type SessionEvent,
  type SessionsState,
  session,
  sessionStream,
} from '../../domain/chat/session.js';
import type { Aggregate, AggregateStore } from '../command/index.js';
import { aggregateAt, type LiveEvent, type StreamCursors } from '../subscription/index.js';

export const rosterAggregate: Aggregate<RosterState, RosterCommand, RosterEvent> = {
  catalog,
  decider: roster,
};

export const passwordAggregate: Aggregate<PasswordState, SetPassword, PasswordSet> = {
  catalog,
  decider: password,
};

export const addressAggregate: Aggregate<AddressState, AddressCommand, AddressEvent> = {
  catalog,
  decider: address,
  decrypts: 'none',
  maxAge: true,
};

/** The stream starts when the OAuth state is returned, and expires. */
export const oauthAggregate: Aggregate<OAuthState, SpendState, OAuthReturned> = {
  catalog,
  decider: oauth,
  creates: () => true,
  maxAge: true,
};

export const sessionAggregate: Aggregate<SessionsState, SessionCommand, SessionEvent> = {
  catalog,
  decider: session,
  maxCount: SESSION_EVENTS,
  maxAge: true,
};

export const serverAggregate: Aggregate<ServerState, RenameServer, ServerEvent> = {
  catalog,
  decider: server,
};

export const channelsAggregate: Aggregate<ChannelsState, ChannelsCommand, ChannelsEvent> = {
  catalog,
  decider: channels,
};

/** Does not decrypt what no rule needs: pins and up to 100,000 replies. */
export const messageAggregate: Aggregate<MessageState, MessageCommand, MessageEvent> = {
  catalog,
  decider: message,
  decrypts: ['MessagePosted', 'MessageEdited', 'ReactionAdded', 'ReactionRemoved'],
  creates: ({ type }) => type === 'PostMessage',
  termination: { rejection: messageNotFound, isEnded: ({ status }) => status === 'deleted' },
};

export const conversationAggregate: Aggregate<ConversationState, StartConversation, ConversationEvent> = {
  catalog,
  decider: conversation,
};

/** The stream starts with the request, and expires. */
export const requestAggregate: Aggregate<RequestState, RequestConversation, RequestEvent> = {
  catalog,
  decider: request,
  creates: () => true,
  maxAge: true,
};

/** The stream starts with the upload. */
export const fileAggregate: Aggregate<FileState, FileCommand, FileEvent> = {
  catalog,
  decider: file,
  creates: ({ type }) => type === 'UploadFile',
  termination: { rejection: fileNotFound, isEnded: ({ status }) => status === 'discarded' },
};

export const presenceAggregate: Aggregate<PresenceState, PresenceCommand, PresenceEvent> = {
  catalog,
  decider: presence,
  maxCount: 1,
};

export const auditAggregate: Aggregate<Record<never, never>, AuditEvent, AuditEvent> = {
  catalog,
  decider: audit,
};

interface Folded {
  readonly roster: RosterState;
  readonly channels: ChannelsState;
  readonly reached: StreamCursors;
}

/** Seeds the cache with the relay's state, so that streams are not read twice. Loading an aggregate reads the events the relay has not received yet. */
export function seedAggregatesFromRelay(
  { seed }: Pick<AggregateStore, 'seed'>,
  { roster, channels, reached }: Folded,
): void {
  for (const [stream, state] of [
    [ROSTER, roster],
    [CHANNELS, channels],
  ] as const) {
    const at = reached[stream];
    if (at && at.revision >= 0) seed(stream, aggregateAt(state, at));
  }
}

/** Creates the handler that drops erased data from the relay's buffer and from cached aggregates. */
export const forgetErased =
  (streams: Pick<AggregateStore, 'forget' | 'seed'>, relay: { state(): Folded; clear(): void }) =>
  (event: LiveEvent<typeof catalog>): void => {
    if (event.type === 'UserErased') {
      relay.clear();
      streams.forget(sessionStream(event.data.userId));
    }
    // The relay's state no longer has the erased data.
    if (event.type === 'UserErased' || event.type === 'ChannelDeleted') seedAggregatesFromRelay(streams, relay.state());
  };
