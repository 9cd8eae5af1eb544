/** Catalog of all chat events: versions, schemas, sealed parts and key subjects. */
import type { Catalog, EventOf } from '../shared/index.js';
import { auditEvents } from './events/audit.js';
import { channelEvents, conversationEvents } from './events/channels.js';
import { fileEvents } from './events/files.js';
import { messageEvents, threadEvents } from './events/messages.js';
import { presenceEvents } from './events/presence.js';
import { rosterEvents } from './events/roster.js';
import { settingsEvents } from './events/settings.js';
import { signInEvents } from './events/sign-in.js';

export const catalog = {
  service: 'chat',
  events: {
    ...rosterEvents,
    ...signInEvents,
    ...channelEvents,
    ...conversationEvents,
    ...messageEvents,
    ...threadEvents,
    ...fileEvents,
    ...settingsEvents,
    ...presenceEvents,
    ...auditEvents,
  },
} as const satisfies Catalog;

type Chat = typeof catalog;

export type ChatEvent<Type extends keyof Chat['events'] = keyof Chat['events']> = EventOf<Chat, Type>;
