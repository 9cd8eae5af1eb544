/** What a reply says, for its author to change: by its row or, while rows are behind, by the log. */
import { catalog } from '../../../domain/chat/catalog.js';
import type { MessageContent } from '../../../domain/chat/events/messages.js';
import { type MessageEvent, messageStream } from '../../../domain/chat/message.js';
import { isEvent, readBackward } from '../../command/index.js';
import { sliceExpired, yieldToEventLoop } from '../../concurrency/index.js';
import type { DecryptEvent, EventLog, Position } from '../../ports/index.js';
import type { Pages } from './page-query.js';

export interface ReplyTextPorts {
  readonly log: Pick<EventLog, 'read'>;
  readonly reveal: DecryptEvent;
  readonly pages: Pick<Pages, 'reply'>;
}

/** A reply that is there; `position`: of the last event that is known of its message. */
export interface Sought {
  readonly channelId: string;
  readonly messageId: string;
  readonly replyId: string;
  readonly position: Position;
}

export interface ReplyText {
  readonly said: MessageContent;
  readonly quotedMessageId: string | null;
  readonly updatedAt: number | null;
}

type Saying = Extract<MessageEvent, { type: 'ReplyPosted' | 'ReplyEdited' }>;

export function createReplyText({ log, reveal, pages }: ReplyTextPorts) {
  /** Undefined where it is gone meanwhile. */
  return async function replyText(sought: Sought): Promise<ReplyText | undefined> {
    return (await pages.reply(sought.channelId, sought.replyId, sought.position)) ?? latest(sought);
  };

  async function latest({ messageId, replyId }: Sought): Promise<ReplyText | undefined> {
    for await (const page of readBackward(log, messageStream(messageId))) {
      for (const event of page) {
        if (sliceExpired()) await yieldToEventLoop();
        const isSaid = isEvent<Saying>('ReplyEdited', event) || isEvent<Saying>('ReplyPosted', event);
        if (!isSaid || event.data.replyId !== replyId) continue;
        const { data } = await reveal<Saying>(catalog, event);
        const updatedAt = 'editedAt' in data ? data.editedAt : null;
        return { said: data.secret, quotedMessageId: data.quotedMessageId, updatedAt };
      }
    }
    return undefined;
  }
}
