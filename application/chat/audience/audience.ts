/** Audience of the chat: who may see which event, and when a client's stream ends. */
import { randomUUID } from 'node:crypto';
import type { ChatEvent, catalog } from '../../../domain/chat/catalog.js';
import type { ConversationEvent, RequestEvent } from '../../../domain/chat/conversation.js';
import type { PresenceEvent } from '../../../domain/chat/presence.js';
import { userById } from '../../../domain/chat/roster.js';
import type { ServerEvent } from '../../../domain/chat/server-settings.js';
import type { Audience, LiveEvent, Message, StreamControl } from '../../subscription/index.js';
import { conversationView } from '../channels/conversations.js';
import type { Caller } from '../sign-in/authenticate.js';
import { channelsOn } from './channels.js';
import { messagesOn } from './messages.js';
import { rosterOn } from './roster.js';
import { snapshot } from './snapshot.js';
import { type ChatState, EVERYBODY, initialState, sessionKey, userKey } from './state.js';

export { isEntitled } from './channels.js';
export type { ChatState } from './state.js';

const conversationsOn: Audience<ChatState, ConversationEvent | RequestEvent>['on'] = {
  ConversationRequested: {},
  ConversationStarted: {
    deliver: ({ data: { conversationId: id, participants, startedAt: createdAt } }, { roster }) =>
      participants.map((each) => ({
        to: [userKey(each)],
        message: {
          type: 'NEW_CONVERSATION',
          payload: conversationView(roster, each, { id, participants, createdAt, lastMessageAt: null }),
        },
      })),
  },
};

const settingsOn: Audience<ChatState, ServerEvent>['on'] = {
  ServerRenamed: {
    deliver: ({ data: { secret } }) => [
      { to: [EVERYBODY], message: { type: 'UPDATE_SERVER_SETTINGS', payload: { name: secret.name } } },
    ],
  },
};

const presenceOn: Audience<ChatState, PresenceEvent>['on'] = {
  PresenceChanged: {
    deliver: ({ data: { userId, status, former, lastSeen } }, { roster }) =>
      status === former || !userById(roster, userId)
        ? []
        : [{ to: [EVERYBODY], message: { type: 'PRESENCE_UPDATE', payload: { userId, status, lastSeen } } }],
  },
};

export const chat: Audience<ChatState, ChatEvent> = {
  initialState,
  cursors: ({ reached }) => reached,
  snapshot,
  on: {
    ...rosterOn,
    ...channelsOn,
    ...messagesOn,
    ...conversationsOn,
    ...settingsOn,
    ...presenceOn,
    SessionOpened: {},
    SessionRefreshed: {},
    SessionEnded: {},
    // Message events carry their attachments.
    FileUploaded: {},
    FileAttached: {},
    FileKept: {},
    FileDetached: {},
    FileDiscarded: {},
    PasswordSet: {},
    LinkRequested: {},
    LinkMailed: {},
    LinkNotMailed: {},
    LinkSpent: {},
    SignInLimitReached: {},
    Exported: {},
    ActKept: {},
    OAuthReturned: {},
  },
};

export const streamKeysOf = ({ userId, sessionId }: Caller): readonly string[] => [
  EVERYBODY,
  userKey(userId),
  sessionKey(sessionId),
];

/** Creates the handler that ends streams when an event ends their session or user. */
export const endStreams =
  ({ end, until }: StreamControl) =>
  (event: LiveEvent<typeof catalog>): void => {
    switch (event.type) {
      case 'SessionRefreshed':
        until(sessionKey(event.data.sessionId), event.data.expiresAt);
        break;
      case 'SessionEnded':
        end(sessionKey(event.data.sessionId));
        break;
      case 'UserRemoved':
      case 'UserLeft':
      case 'UserErased':
        end(userKey(event.data.userId));
    }
  };

export const connectedMessage = (userId: string, now: number): Message => ({
  type: 'CONNECTED',
  payload: {
    message: 'Connected',
    timestamp: new Date(now).toISOString(),
    userId,
    connectionId: randomUUID(),
  },
});
