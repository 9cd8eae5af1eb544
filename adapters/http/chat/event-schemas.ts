/** JSON Schemas of the frames of the chat's event stream: one for each type, and one for any of them. */
import { object, type Properties } from '../../../domain/shared/index.js';
import * as schemas from './message-schemas.js';
import { presenceEntry } from './presence.js';
import { text, user } from './schemas.js';
import { settings } from './server.js';
import { webhook } from './webhooks.js';

const participants = schemas.list(text);
/** Additional members of events of direct messages. */
const direct = { conversationId: text, participants };
const { reactions, threadMeta } = schemas;
const message = object(schemas.messageFields, { reactions, threadMeta });
const directMessage = object({ ...schemas.messageFields, ...direct }, { reactions });
const reaction = object({ messageId: text, channelId: text, userId: text, reaction: text }, direct);
const userWithEmail = object({ ...user.properties, email: text });
const replyPayload = { ...schemas.replyFields, parentMessageId: text, threadMeta };

const payloads: { readonly [type: string]: { readonly properties: Properties } } = {
  CONNECTED: object({ message: text, timestamp: text, userId: text, connectionId: text }),
  NEW_MESSAGE: message,
  UPDATE_MESSAGE: message,
  DELETE_MESSAGE: object({ id: text, channelId: text }),
  NEW_CHANNEL: schemas.channel,
  UPDATE_CHANNEL: schemas.channel,
  DELETE_CHANNEL: object({ id: text, name: text }),
  NEW_REACTION: reaction,
  DELETE_REACTION: reaction,
  NEW_USER: userWithEmail,
  REMOVE_USER: userWithEmail,
  USER_EXIT: user,
  UPDATE_USER: user,
  NEW_CONVERSATION: schemas.conversation,
  NEW_DM_MESSAGE: directMessage,
  UPDATE_DM_MESSAGE: directMessage,
  DELETE_DM_MESSAGE: object({ id: text, channelId: text, ...direct }),
  NEW_THREAD_REPLY: object({ ...replyPayload, reply: schemas.reply }),
  UPDATE_THREAD_REPLY: object(replyPayload),
  DELETE_THREAD_REPLY: object({
    id: text,
    threadId: text,
    parentMessageId: text,
    channelId: text,
    threadMeta: { anyOf: [threadMeta, { type: 'null' }] },
  }),
  NEW_WEBHOOK: webhook,
  DELETE_WEBHOOK: object({ id: text, channelId: text }),
  UPDATE_SERVER_SETTINGS: settings,
  PRESENCE_UPDATE: presenceEntry,
};

const frames = Object.entries(payloads).map(([type, payload]) => ({
  title: type,
  ...object({ type: { const: type }, payload }),
}));
const reset = {
  title: 'RESET',
  description: 'Missed events are no longer available: read the state again',
  ...object({ type: { const: 'RESET' } }),
};

/** The JSON of one `data:` line. */
export const frame = {
  description: 'Each `data:` line of the stream is the JSON of one of these',
  oneOf: [...frames, reset],
};
