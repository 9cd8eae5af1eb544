/** Commands and events about messages and files in the chat. */
import type { ChannelsCommand, Requester } from '../../domain/chat/channels.js';
import type { StartConversation } from '../../domain/chat/conversation.js';
import { conversationOf } from '../../domain/chat/events/channels.js';
import type { Content } from '../../domain/chat/events/files.js';
import { EMPTY_CONTENT, type MessageContent, parentOf } from '../../domain/chat/events/messages.js';
import type { FileCommand, Upload } from '../../domain/chat/file.js';
import { type MessageCommand, type MessageEvent, type MessageState, message } from '../../domain/chat/message.js';
import { type ThreadCommand, type ThreadEvent, type ThreadState, thread } from '../../domain/chat/thread.js';
import { evolveOf, isRejection } from '../../domain/shared/index.js';

export const NOON = 1_800_000_000_000;

export const [ADA, BOB, CYD] = ['ada', 'bob', 'cyd'].map((name) => name.padEnd(22, '0')) as [string, string, string];
export const CHANNEL = 'general';
export const DIRECT = conversationOf(ADA, BOB);
export const asUser = (userId: string): Requester => ({ userId, isAdmin: false });
export const asAdmin = (userId: string): Requester => ({ userId, isAdmin: true });

type Of<C extends { type: string }, Type extends C['type']> = Extract<C, { type: Type }>;
type More<C extends { type: string }, Type extends C['type']> = Partial<Omit<Of<C, Type>, 'type'>>;

export const createChannel = (
  name = 'General',
  more: More<ChannelsCommand, 'CreateChannel'> = {},
): Of<ChannelsCommand, 'CreateChannel'> => ({
  type: 'CreateChannel',
  channelId: name.toLowerCase(),
  by: ADA,
  name,
  isPrivate: false,
  members: [],
  now: NOON,
  ...more,
});

export const updateChannel = (more: More<ChannelsCommand, 'UpdateChannel'>): Of<ChannelsCommand, 'UpdateChannel'> => ({
  type: 'UpdateChannel',
  channelId: CHANNEL,
  by: asUser(ADA),
  now: NOON + 1,
  ...more,
});

export const deleteChannel = (by = asUser(ADA), channelId = CHANNEL): ChannelsCommand => ({
  type: 'DeleteChannel',
  channelId,
  by,
  now: NOON + 2,
});

export const eraseChannel = (channelId = CHANNEL): ChannelsCommand => ({
  type: 'EraseChannel',
  channelId,
  now: NOON + 3,
});

export const createWebhook = (name: string, more: More<ChannelsCommand, 'CreateWebhook'> = {}): ChannelsCommand => ({
  type: 'CreateWebhook',
  webhookId: 'hook',
  channelId: CHANNEL,
  by: ADA,
  name,
  tokenHash: 'hash',
  now: NOON,
  ...more,
});

export const deleteWebhook = (webhookId = 'hook'): ChannelsCommand => ({
  type: 'DeleteWebhook',
  webhookId,
  by: ADA,
  now: NOON + 1,
});

export const withContent = (content: string): MessageContent => ({ ...EMPTY_CONTENT, content });

export const postMessage = (
  content: string,
  more: More<MessageCommand, 'PostMessage'> = {},
): Of<MessageCommand, 'PostMessage'> => ({
  type: 'PostMessage',
  messageId: 'm',
  channelId: CHANNEL,
  author: ADA,
  body: withContent(content),
  now: NOON,
  ...more,
});

export const editMessage = (content: string, by = ADA, now = NOON + 1): MessageCommand => ({
  type: 'EditMessage',
  messageId: 'm',
  by,
  body: withContent(content),
  now,
});

/** Where a message that is deleted was posted. */
export const POSTED = '9007199254740993';

export const deleteMessage = (by = asUser(ADA)): MessageCommand => ({
  type: 'DeleteMessage',
  messageId: 'm',
  by,
  postedPosition: POSTED,
  now: NOON + 9,
});

export const pin = (by = BOB, now = NOON + 2): MessageCommand => ({
  type: 'PinMessage',
  messageId: 'm',
  by,
  now,
});
export const unpin = (by = BOB, now = NOON + 3): MessageCommand => ({
  type: 'UnpinMessage',
  messageId: 'm',
  by,
  now,
});

export const react = (reaction: string, userId = BOB): MessageCommand => ({
  type: 'AddReaction',
  messageId: 'm',
  userId,
  reaction,
  now: NOON + 4,
});
export const unreact = (reaction: string, userId = BOB): MessageCommand => ({
  type: 'RemoveReaction',
  messageId: 'm',
  userId,
  reaction,
  now: NOON + 5,
});

export const postReply = (content: string, author = BOB, replyId = `m.${content}`, now = NOON + 6) => ({
  type: 'AddReply' as const,
  messageId: 'm',
  channelId: CHANNEL,
  replyId,
  author,
  body: withContent(content),
  quotedMessageId: null,
  now,
});
export const removeReply = (replyId: string) => ({
  type: 'RemoveReply' as const,
  messageId: 'm',
  replyId,
  now: NOON + 8,
});
export const closeThread = (by = ADA) => ({
  type: 'CloseThread' as const,
  messageId: 'm',
  channelId: CHANNEL,
  by,
  now: NOON + 9,
});
export const editReply = (replyId: string, content: string, by = BOB, now = NOON + 7): MessageCommand => ({
  ...editMessage(content, by, now),
  messageId: replyId,
});
export const deleteReply = (replyId: string, by = asUser(BOB)): MessageCommand => ({
  ...deleteMessage(by),
  messageId: replyId,
});

/**
 * Runs commands on messages and threads as the use cases do: a written reply is added to its thread, and leaves it when it
 * is deleted. Rejected commands change nothing.
 */
export function runMessages(commands: readonly (MessageCommand | ThreadCommand)[]) {
  const events: (MessageEvent | ThreadEvent)[] = [];
  const messages = new Map<string, MessageState>();
  const threads = new Map<string, ThreadState>();
  const messageOf = (id: string) => messages.get(id) ?? message.initialState;
  const threadFor = (id: string) => threads.get(id) ?? thread.initialState;

  function runMessage(command: MessageCommand): boolean {
    const outcome = message.decide(command, messageOf(command.messageId));
    if (isRejection(outcome)) return false;
    messages.set(command.messageId, outcome.reduce(evolveOf(message), messageOf(command.messageId)));
    events.push(...outcome);
    return outcome.length > 0;
  }

  function runThread(command: ThreadCommand): boolean {
    const outcome = thread.decide(command, threadFor(command.messageId));
    if (isRejection(outcome)) return false;
    threads.set(command.messageId, outcome.reduce(evolveOf(thread), threadFor(command.messageId)));
    events.push(...outcome);
    return outcome.length > 0;
  }

  for (const command of commands) {
    if (command.type === 'AddReply') {
      const { replyId, messageId: _, ...post } = command;
      if (runMessage({ ...post, type: 'PostMessage', messageId: replyId })) runThread(command);
    } else if (command.type === 'RemoveReply' || command.type === 'CloseThread') {
      runThread(command);
    } else if (runMessage(command) && command.type === 'DeleteMessage') {
      const { messageId: replyId, now } = command;
      const messageId = parentOf(replyId);
      if (messageId !== undefined) runThread({ type: 'RemoveReply', messageId, replyId, now });
    }
  }
  return { events, messageOf, threadFor };
}

export const startConversation = (by = ADA, conversationId = DIRECT): StartConversation => ({
  type: 'StartConversation',
  conversationId,
  by,
  now: NOON,
});

export const FILE = 'file'.padEnd(22, '0');
export const PLAN = `${NOON}-${FILE}.pdf`;

const content: Content = {
  contentType: 'application/pdf',
  size: 5,
  sha256: '0f',
  stored: 'bytes',
  sealedKey: 'key',
};

export const upload = (more: Partial<Upload> = {}): FileCommand => ({
  type: 'UploadFile',
  upload: {
    fileId: FILE,
    name: PLAN,
    uploadedBy: ADA,
    uploadedAt: NOON,
    channelId: null,
    content,
    thumbnail: null,
    secret: { originalName: 'plan.pdf' },
    ...more,
  },
});

export const attach = (messageId: string, more: More<FileCommand, 'AttachFile'> = {}): FileCommand => ({
  type: 'AttachFile',
  fileId: FILE,
  by: ADA,
  messageId,
  channelId: CHANNEL,
  now: NOON + 1,
  ...more,
});

export const review = (missing: readonly string[], now: number): FileCommand => ({
  type: 'ReviewFile',
  fileId: FILE,
  missing,
  now,
});

const begun = (hex: string, rest = 'rest') => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.from(rest)]);

/** The shortest valid file of each type. */
export const SAMPLES: { readonly [extension: string]: Buffer } = {
  pdf: Buffer.from('%PDF-1.7\n'),
  txt: Buffer.from('Hello'),
  md: Buffer.from('# Hello'),
  markdown: Buffer.from('# Hello'),
  csv: Buffer.from('a,b\n1,2\n'),
  json: Buffer.from('{"a":1}'),
  zip: begun('504b0304'),
  doc: begun('d0cf11e0a1b11ae1'),
  docx: begun('504b0304'),
  xls: begun('d0cf11e0a1b11ae1'),
  xlsx: begun('504b0304'),
  ppt: begun('d0cf11e0a1b11ae1'),
  pptx: begun('504b0304'),
  jpg: begun('ffd8ffe000104a464946'),
  jpeg: begun('ffd8ffdb'),
  png: begun('89504e470d0a1a0a'),
  webp: begun('524946462400000057454250', 'VP8 '),
  svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
};

/** A message with content only, as in pages. */
export const plainMessage = (id: string, content = '') => ({
  id,
  channelId: 'c',
  author: 'ada',
  createdAt: 0,
  updatedAt: null,
  pinnedAt: null,
  quotedMessageId: null,
  body: { content, attachments: [], images: [], mentions: [] },
  reactions: {},
  thread: null,
});
