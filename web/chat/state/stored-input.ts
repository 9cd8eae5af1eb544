/** Messages as they were stored in the browser: a damaged value must not stop the page. */
import type { Attachment, MessageInput } from '../contract.js';
import type { Outgoing } from './outbox.js';

const isText = (value: unknown): value is string => typeof value === 'string';

const isAttachment = (value: unknown): value is Attachment => {
  const { filename, originalName } = (value ?? {}) as Partial<Attachment>;
  return isText(filename) && isText(originalName);
};

const listOf = <Item>(value: unknown, isItem: (item: unknown) => item is Item): readonly Item[] =>
  Array.isArray(value) ? value.filter(isItem) : [];

/** What of a message can be used. */
export function storedInput(value: unknown): MessageInput {
  const { content, attachments, images, quotedMessageId } = (value ?? {}) as { readonly [name: string]: unknown };
  return {
    content: isText(content) ? content : '',
    attachments: listOf(attachments, isAttachment),
    images: listOf(images, isText),
    quotedMessageId: isText(quotedMessageId) ? quotedMessageId : null,
  };
}

/** A message of the outbox; undefined if it cannot be sent. */
export function storedOutgoing(value: unknown): Outgoing | undefined {
  const stored = (value ?? {}) as Partial<Outgoing>;
  const { key, placeId, threadId, writtenAt, status } = stored;
  if (!isText(key) || !isText(placeId) || (threadId !== undefined && !isText(threadId))) return undefined;
  if (!Number.isFinite(writtenAt) || !isText(status)) return undefined;
  return { ...(stored as Outgoing), ...storedInput(stored) };
}
