/** Prepares the content of a message or reply: checks files and quote, and computes mentions. */

import type { MessageContent } from '../../../domain/chat/events/messages.js';
import { mentionsOf } from '../../../domain/chat/names.js';
import { type Rejection, rejection } from '../../../domain/shared/index.js';
import type { Attachments } from '../files/attachments.js';
import type { Authentication, Caller } from '../sign-in/authenticate.js';
import type { Visibility } from './visibility.js';

/** Content as sent by a client; an edit leaves absent members unchanged. */
export interface MessageInput {
  readonly content?: string;
  readonly attachments?: MessageContent['attachments'];
  readonly images?: MessageContent['images'];
  readonly quotedMessageId?: string | null;
}

export interface PreparedContent {
  readonly body: Partial<MessageContent>;
  readonly quotedMessageId?: string | null;
}

interface EditTarget {
  readonly id: string;
  readonly quotedMessageId: string | null;
}

const emptyEdit = rejection(
  'chat/empty-edit',
  'invalid',
  'Provide at least one of content, attachments, images and quotedMessageId',
);
const badQuote = rejection(
  'chat/bad-quote',
  'invalid',
  'quotedMessageId must be another message of the same channel or conversation',
);

interface ContentPorts {
  readonly admission: Authentication;
  readonly visibility: Visibility;
  readonly uploads: Pick<Attachments, 'check'>;
}

export const createMentionFinder = (admission: Authentication) =>
  async function findMentions(content: string): Promise<readonly string[]> {
    if (!content.includes('@')) return [];
    const { names } = (await admission.roster()).state;
    return mentionsOf(content, (key) => names.get(key));
  };

export type PrepareContent = ReturnType<typeof createContentPreparer>;

export function createContentPreparer({ admission, visibility, uploads }: ContentPorts) {
  const findMentions = createMentionFinder(admission);

  /** Prepares a new message, or with `target` an edit. */
  return async function prepareContent(
    by: Caller,
    channelId: string,
    input: MessageInput,
    target?: EditTarget,
  ): Promise<PreparedContent | Rejection> {
    const { content, quotedMessageId, attachments, images } = input;
    const hasChange = [content, quotedMessageId, attachments, images].some((each) => each !== undefined);
    if (target && !hasChange) return emptyEdit;
    let body: Partial<MessageContent> = {};
    if (attachments || images) {
      const checked = await uploads.check(by, channelId, {
        attachments: attachments ?? [],
        images: images ?? [],
      });
      if ('rejected' in checked) return checked;
      body = {
        ...(attachments && { attachments: checked.attachments }),
        ...(images && { images: checked.images }),
      };
    }
    if (content !== undefined) body = { ...body, content, mentions: await findMentions(content) };
    if (quotedMessageId === undefined) return { body };
    // A quote that an edit does not change may refer to a message deleted since.
    if (quotedMessageId === null || quotedMessageId === target?.quotedMessageId) return { body, quotedMessageId };
    const isOtherMessage = quotedMessageId !== target?.id;
    return isOtherMessage && (await isQuotable(by, channelId, quotedMessageId)) ? { body, quotedMessageId } : badQuote;
  };

  /** Whether the quoted message or reply is in the same channel and visible to the caller. */
  async function isQuotable(by: Caller, channelId: string, quoted: string): Promise<boolean> {
    const found = await visibility.message(by, quoted);
    return !('rejected' in found) && found.state.channelId === channelId;
  }
}
