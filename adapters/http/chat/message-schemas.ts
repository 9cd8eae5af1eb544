/** JSON Schemas of channels, messages, threads and conversations. */
import { object } from '../../../domain/shared/index.js';
import { listLimit } from '../server/validate.js';
import type { ChatQuotas } from './quotas.js';
import { flag, id, text, time } from './schemas.js';

/** Maximum bytes of the JSON of a message, with all characters escaped. */
export const MESSAGE_LIMIT = 256 * 1024;

export const list = <const Items extends object>(items: Items) => ({ type: 'array', items }) as const;
const orNull = <const Type extends string>(type: Type) => ({ type: [type, 'null'] }) as const;

const members = { type: 'array', items: id, maxItems: 10_000, description: 'Ids of users' } as const;
const channelName = { type: 'string', maxLength: 400, description: 'Trimmed, 1 to 80 characters' } as const;
const topic = { type: 'string', maxLength: 2000, description: 'At most 500 characters' } as const;

export const createChannelBody = object({ name: channelName }, { topic, isPrivate: flag, members });
export const updateChannelBody = object({}, { name: channelName, topic, isPrivate: flag, members });

export const channel = object(
  {
    id: text,
    name: text,
    isPrivate: flag,
    members: list(text),
    createdBy: text,
    createdAt: time,
  },
  { topic: text, updatedAt: time },
);
export const oneChannel = object({ channel });
export const channels = object({ channels: list(channel) });

const content = { type: 'string', maxLength: 8000 } as const;
const attachment = object({
  filename: { type: 'string', maxLength: 255 },
  originalName: { type: 'string', maxLength: 255 },
  contentType: { type: 'string', maxLength: 255 },
  size: { type: 'integer', minimum: 0 },
});
const attachmentFields = {
  attachments: {
    type: 'array',
    items: attachment,
    maxItems: 50,
    description: 'As returned by the upload',
  },
  images: {
    type: 'array',
    items: { type: 'string', maxLength: 255 },
    maxItems: 50,
    description: 'Stored names',
  },
} as const;
const quotedMessageId = {
  type: ['string', 'null'],
  maxLength: 64,
  description: 'Another message of the same channel or conversation',
} as const;

/** A posted or edited message or reply: content, an attachment or an image is required. */
export const messageInput = object({}, { content, ...attachmentFields, quotedMessageId });
export const BAD_EDIT = {
  description: 'No field is given, the message would be empty, or an attachment or the quoted message does not exist',
};
/** Members of routes that post or edit. */
export const writing = ({ messages }: Pick<ChatQuotas, 'messages'>) =>
  ({ body: messageInput, bodyLimit: MESSAGE_LIMIT, quota: messages }) as const;
export const reactionBody = object({
  reaction: { type: 'string', minLength: 1, maxLength: 32, pattern: '\\S' },
});
export const conversationBody = object({ targetUserId: id });
/** No fields, but a body must be valid JSON. */
export const emptyBody = object({});

export const pageQuery = {
  type: 'object',
  properties: {
    limit: listLimit({ initial: 50, max: 500 }),
    before: {
      type: 'string',
      maxLength: 64,
      description: 'Id of a message, also a deleted one: returns those just before it',
    },
    after: {
      type: 'string',
      maxLength: 64,
      description: 'Id of a message, also a deleted one: returns those just after it, oldest first',
    },
  },
} as const;

const author = object({ id: text, userName: text }, { isBot: flag });
const contentFields = {
  content: text,
  attachments: list(attachment),
  images: list(text),
  mentions: { ...list(text), description: 'Ids of users, `@channel` and `@here`' },
} as const;
export const threadMeta = object({
  replyCount: { type: 'integer' },
  lastReplyAt: time,
  lastReplyBy: object({ id: text, userName: text }),
  participants: { ...list(text), description: 'At most the first hundred' },
});
export const reactions = {
  type: 'object',
  additionalProperties: list(text),
  description: 'Ids of users by reaction',
} as const;

export const messageFields = {
  id: text,
  channelId: text,
  author,
  ...contentFields,
  quotedMessageId: orNull('string'),
  pinnedAt: orNull('integer'),
  createdAt: time,
  updatedAt: orNull('integer'),
} as const;
const message = object({ ...messageFields, reactions }, { threadId: text, threadMeta });
export const oneMessage = object({ message });
export const messages = object({ messages: list(message) });
export const reacted = object({ message: object({ id: text, channelId: text, reactions }) });

export const replyFields = { ...messageFields, threadId: text } as const;
export const reply = object({ ...replyFields, reactions });
export const replied = object({ reply, threadMeta });
export const oneReply = object({ message: reply });
export const replies = object({ replies: list(reply) });
export const unreplied = object({ success: { const: true }, threadMeta: { type: ['object', 'null'] } });

export const history = object({
  history: list(object({ author, ...contentFields, quotedMessageId: orNull('string'), createdAt: time })),
});

export const conversation = object({
  id: text,
  participants: list(text),
  createdAt: time,
  lastMessageAt: orNull('integer'),
  otherUser: object({ id: text, userName: text }),
});
export const conversations = object({ conversations: list(conversation) });
export const startedConversation = object({ conversation, isNew: flag });
