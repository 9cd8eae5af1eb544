/** Reads the current content of a reply for an edit: from its row, or from the log while rows are behind. */
import { catalog } from '../../../domain/chat/catalog.js';
import type { MessageContent } from '../../../domain/chat/events/messages.js';
import { type MessageEvent, messageStream } from '../../../domain/chat/message.js';
import { isEvent, readBackward } from '../../command/index.js';
import { sliceExpired, yieldToEventLoop } from '../../concurrency/index.js';
import type { DecryptEvent, EventLog, Position } from '../../ports/index.js';
import type { PageQueries } from './message-rows.js';

export interface ReplyBodyPorts {
  readonly log: Pick<EventLog, 'read'>;
  readonly decryptEvent: DecryptEvent;
  readonly pages: Pick<PageQueries, 'reply'>;
}

/** Existing reply; `position` is that of its message's last known event. */
export interface ReplyLocation {
  readonly channelId: string;
  readonly messageId: string;
  readonly replyId: string;
  readonly position: Position;
}

export interface ReplyBody {
  readonly body: MessageContent;
  readonly quotedMessageId: string | null;
  readonly updatedAt: number | null;
}

type ContentEvent = Extract<MessageEvent, { type: 'ReplyPosted' | 'ReplyEdited' }>;

export function createReplyBodyReader({ log, decryptEvent, pages }: ReplyBodyPorts) {
  /** Undefined when the reply was deleted meanwhile. */
  return async function readReplyBody(location: ReplyLocation): Promise<ReplyBody | undefined> {
    return (await pages.reply(location.channelId, location.replyId, location.position)) ?? readLatestFromLog(location);
  };

  async function readLatestFromLog({ messageId, replyId }: ReplyLocation): Promise<ReplyBody | undefined> {
    for await (const page of readBackward(log, messageStream(messageId))) {
      for (const event of page) {
        if (sliceExpired()) await yieldToEventLoop();
        const isContentEvent =
          isEvent<ContentEvent>('ReplyEdited', event) || isEvent<ContentEvent>('ReplyPosted', event);
        if (!isContentEvent || event.data.replyId !== replyId) continue;
        const { data } = await decryptEvent<ContentEvent>(catalog, event);
        const updatedAt = 'editedAt' in data ? data.editedAt : null;
        return { body: data.secret, quotedMessageId: data.quotedMessageId, updatedAt };
      }
    }
    return undefined;
  }
}
