/** Catalog of all chat events: versions, schemas, sealed parts and key subjects. */
import type { Catalog, EventOf } from '../shared/index.js';
import { auditEvents } from './events/audit.js';
import { channelEvents } from './events/channels.js';
import { conversationEvents } from './events/conversations.js';
import { fileEvents } from './events/files.js';
import { messageEvents } from './events/messages.js';
import { oauthEvents } from './events/oauth.js';
import { addressEvents } from './events/one-time-links.js';
import { presenceEvents } from './events/presence.js';
import { rosterEvents } from './events/roster.js';
import { sessionEvents } from './events/session.js';
import { settingsEvents } from './events/settings.js';
import { userEvents } from './events/user.js';

export const catalog = {
  service: 'chat',
  events: {
    ...rosterEvents,
    ...sessionEvents,
    ...userEvents,
    ...addressEvents,
    ...oauthEvents,
    ...channelEvents,
    ...conversationEvents,
    ...messageEvents,
    ...fileEvents,
    ...settingsEvents,
    ...presenceEvents,
    ...auditEvents,
  },
} as const satisfies Catalog;

type Chat = typeof catalog;

/** Chat events: all, or those named. */
export type ChatEvent<Type extends keyof Chat['events'] = keyof Chat['events']> = EventOf<Chat, Type>;
