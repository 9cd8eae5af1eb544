/** What somebody says, made ready: who is called by it, what hangs on it, and what it quotes. */
import type { MessageContent } from '../../../domain/chat/events/messages.js';
import { mentionsOf } from '../../../domain/chat/mentions.js';
import { replyWith } from '../../../domain/chat/thread.js';
import type { Rejection } from '../../../domain/shared/index.js';
import type { Attachments } from '../files/attachments.js';
import type { Authentication, Caller } from '../sign-in/authenticate.js';
import { parentOf, type Visibility } from './visibility.js';

export interface ContentPreparerPorts {
  readonly admission: Authentication;
  readonly places: Visibility;
  readonly uploads: Pick<Attachments, 'check'>;
}

/** As a client sends it. What is not said of an edited message stays as it is. */
export interface MessageInput {
  readonly content?: string;
  readonly attachments?: MessageContent['attachments'];
  readonly images?: MessageContent['images'];
  readonly quotedMessageId?: string | null;
}

export interface PreparedContent {
  readonly said: Partial<MessageContent>;
  readonly quotedMessageId?: string | null;
}

/** The message or reply that is edited, as it stands. */
export interface Edited {
  readonly id: string;
  readonly quotedMessageId: string | null;
}

const emptyEdit: Rejection = {
  rejected: 'chat/empty-edit',
  kind: 'invalid',
  detail: 'Give at least one of content, attachments, images and quotedMessageId',
};
const badQuote: Rejection = {
  rejected: 'chat/bad-quote',
  kind: 'invalid',
  detail: 'quotedMessageId must be another message of the same channel or conversation',
};

/** Who is called by a text, by the names that people have now. */
export const createMentions = (admission: Authentication) =>
  async function mentionsIn(content: string): Promise<readonly string[]> {
    if (!content.includes('@')) return [];
    const { names } = (await admission.roster()).state;
    return mentionsOf(content, (key) => names.get(key));
  };

export type PrepareContent = ReturnType<typeof createContentPreparer>;

export function createContentPreparer({ admission, places, uploads }: ContentPreparerPorts) {
  const mentionsIn = createMentions(admission);

  /** A new message, or the changes of one that is `edited`. */
  return async function prepareContent(
    by: Caller,
    channelId: string,
    wording: MessageInput,
    edited?: Edited,
  ): Promise<PreparedContent | Rejection> {
    const { content, quotedMessageId, attachments, images } = wording;
    const isGiven = [content, quotedMessageId, attachments, images].some((each) => each !== undefined);
    if (edited && !isGiven) return emptyEdit;
    let said: Partial<MessageContent> = {};
    if (attachments || images) {
      const hanging = await uploads.check(by, channelId, {
        attachments: attachments ?? [],
        images: images ?? [],
      });
      if ('rejected' in hanging) return hanging;
      said = {
        ...(attachments && { attachments: hanging.attachments }),
        ...(images && { images: hanging.images }),
      };
    }
    if (content !== undefined) said = { ...said, content, mentions: await mentionsIn(content) };
    if (quotedMessageId === undefined) return { said };
    // A quote that an edit leaves as it is may be of a message that was deleted since.
    if (quotedMessageId === null || quotedMessageId === edited?.quotedMessageId) return { said, quotedMessageId };
    const isOther = quotedMessageId !== edited?.id;
    return isOther && (await isQuotable(by, channelId, quotedMessageId)) ? { said, quotedMessageId } : badQuote;
  };

  /** A message there that the caller sees, or a reply to one. */
  async function isQuotable(by: Caller, channelId: string, quoted: string): Promise<boolean> {
    const parent = parentOf(quoted);
    const found = await places.message(by, parent ?? quoted);
    if ('rejected' in found || found.state.channelId !== channelId) return false;
    return parent === undefined || replyWith(found.state.replies, quoted) !== undefined;
  }
}
