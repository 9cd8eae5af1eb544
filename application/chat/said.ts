/** What somebody says, made ready: who is called by it, what hangs on it, and what it quotes. */
import type { Said } from '../../domain/chat/events/messages.js';
import { mentionsOf } from '../../domain/chat/mentions.js';
import { replyWith } from '../../domain/chat/thread.js';
import type { Rejection } from '../../domain/shared/decider.js';
import type { Caller, ChatAdmission } from './admission.js';
import { type Places, parentOf } from './places.js';
import type { Uploads } from './uploads.js';

export interface SayingPorts {
  readonly admission: ChatAdmission;
  readonly places: Places;
  readonly uploads: Pick<Uploads, 'check'>;
}

/** As a client sends it. What is not said of an edited message stays as it is. */
export interface Wording {
  readonly content?: string;
  readonly attachments?: Said['attachments'];
  readonly images?: Said['images'];
  readonly quotedMessageId?: string | null;
}

export interface Worded {
  readonly said: Partial<Said>;
  readonly quotedMessageId?: string | null;
}

const badQuote: Rejection = {
  rejected: 'chat/bad-quote',
  kind: 'invalid',
  detail: 'quotedMessageId must be a message of the same channel or conversation',
};

/** Who is called by a text, by the names that people have now. */
export const createMentions = (admission: ChatAdmission) =>
  async function mentionsIn(content: string): Promise<readonly string[]> {
    if (!content.includes('@')) return [];
    const { names } = (await admission.roster()).state;
    return mentionsOf(content, (key) => names.get(key));
  };

export type Saying = ReturnType<typeof createSaying>;

export function createSaying({ admission, places, uploads }: SayingPorts) {
  const mentionsIn = createMentions(admission);

  return async function worded(by: Caller, channelId: string, wording: Wording): Promise<Worded | Rejection> {
    const { content, quotedMessageId, attachments, images } = wording;
    let said: Partial<Said> = {};
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
    if (quotedMessageId !== null && !(await isQuotable(by, channelId, quotedMessageId))) return badQuote;
    return { said, quotedMessageId };
  };

  /** A message there that the caller sees, or a reply to one. */
  async function isQuotable(by: Caller, channelId: string, quoted: string): Promise<boolean> {
    const parent = parentOf(quoted);
    const found = await places.message(by, parent ?? quoted);
    if ('rejected' in found || found.state.channelId !== channelId) return false;
    return parent === undefined || replyWith(found.state.replies, quoted) !== undefined;
  }
}
