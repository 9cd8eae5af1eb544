/** Events and read models of the chat service. */
import { chatThings } from '../../../application/chat/admin/past-states.js';
import { catalog } from '../../../domain/chat/catalog.js';
import { audit } from '../../../projections/chat/audit.js';
import { files } from '../../../projections/chat/files.js';
import { conversations, messages } from '../../../projections/chat/messages.js';
import { presence } from '../../../projections/chat/presence.js';
import { search } from '../../../projections/chat/search/projection.js';
import type { ServiceDefinition } from '../../node/service.js';

/** Read models of messages, conversations and files. */
export const messagingProjections = [messages, conversations, files];

export const chat: ServiceDefinition<typeof catalog> = {
  name: 'chat',
  catalog,
  projections: [...messagingProjections, presence, audit, search],
  things: chatThings,
};
