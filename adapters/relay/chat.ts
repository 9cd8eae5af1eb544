/** Who in the chat is told what, and when a stream's authority has ended. */
import { randomUUID } from 'node:crypto';
import type { Caller } from '../../application/chat/admission.js';
import type { LiveEvent } from '../../application/follow/live-event.js';
import type { ChatEvent, catalog } from '../../domain/chat/catalog.js';
import type { Audience, Message } from './audience.js';
import { channelsOn } from './chat/channels.js';
import { conversationsOn } from './chat/conversations.js';
import { messagesOn } from './chat/messages.js';
import { presenceOn } from './chat/presence.js';
import { rosterOn } from './chat/roster.js';
import { settingsOn } from './chat/settings.js';
import { snapshot } from './chat/snapshot.js';
import { type ChatState, EVERYBODY, initialState, sessionKey, userKey } from './chat/state.js';
import type { Relay } from './relay.js';

export { isEntitled } from './chat/channels.js';
export type { ChatState } from './chat/state.js';

export const chat: Audience<ChatState, ChatEvent> = {
  initialState,
  reached: ({ reached }) => reached,
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
    // Messages tell of what hangs on them.
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

/** The keys of somebody's stream. */
export const keysOf = ({ userId, sessionId }: Caller): readonly string[] => [
  EVERYBODY,
  userKey(userId),
  sessionKey(sessionId),
];

/** Lets streams end as an event says, once they are told of it: with their session, or with whose they are. */
export function endBy(
  event: LiveEvent<typeof catalog>,
  { end, until }: Pick<Relay<ChatState>, 'end' | 'until'>,
): void {
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
}

export const connected = (userId: string, now: number): Message => ({
  type: 'CONNECTED',
  payload: {
    message: 'Connected',
    timestamp: new Date(now).toISOString(),
    userId,
    connectionId: randomUUID(),
  },
});
