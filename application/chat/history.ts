/** Every version of a message, or of a reply, as the log has them. */
import { catalog } from '../../domain/chat/catalog.js';
import type { Said } from '../../domain/chat/events/messages.js';
import { type MessageEvent, messageNotFound, messageStream } from '../../domain/chat/message.js';
import { replyWith } from '../../domain/chat/thread.js';
import type { Rejection } from '../../domain/shared/decider.js';
import { pagesOf } from '../pages.js';
import type { EventLog, Position, Reveal } from '../ports.js';
import { isOf } from '../recorded.js';
import type { Caller, ChatAdmission } from './admission.js';
import { type Places, parentOf } from './places.js';
import type { Done } from './sessions.js';
import { type AuthorView, speakerView } from './views.js';

export interface HistoryPorts {
  readonly log: Pick<EventLog, 'read'>;
  readonly reveal: Reveal;
  readonly admission: ChatAdmission;
  readonly places: Places;
}

/** What it said since `createdAt`, by whom. */
export interface Version extends Omit<Said, 'botName'> {
  readonly author: AuthorView;
  readonly createdAt: number;
  readonly quotedMessageId: string | null;
}

type Telling = Extract<
  MessageEvent,
  { type: 'MessagePosted' | 'MessageEdited' | 'ReplyPosted' | 'ReplyEdited' }
>;
const OF_MESSAGE: readonly Telling['type'][] = ['MessagePosted', 'MessageEdited'];
const OF_REPLY: readonly Telling['type'][] = ['ReplyPosted', 'ReplyEdited'];

export type History = ReturnType<typeof createHistory>;

export function createHistory({ log, reveal, admission, places }: HistoryPorts) {
  /** Oldest first. */
  return async function history(
    caller: Caller,
    id: string,
    seen?: Position,
  ): Promise<Done<{ readonly history: readonly Version[] }> | Rejection> {
    const messageId = parentOf(id) ?? id;
    const found = await places.message(caller, messageId, seen);
    if ('rejected' in found) return found;
    const isReply = messageId !== id;
    if (isReply && !replyWith(found.state.replies, id)) return messageNotFound;
    const types = isReply ? OF_REPLY : OF_MESSAGE;
    const { state: roster } = await admission.roster(seen);
    const versions: Version[] = [];
    let position = found.position;
    for await (const page of pagesOf(log, messageStream(messageId))) {
      for (const event of page) {
        ({ position } = event);
        const type = types.find((each) => isOf<Telling>(each, event));
        if (!type || (isReply && event.data.replyId !== id)) continue;
        const { data } = await reveal<Telling>(catalog, event as never);
        versions.push(versionOf(data, speakerView(roster, data.author, data.secret)));
      }
    }
    return { body: { history: versions }, position };
  };
}

function versionOf(data: Telling['data'], author: AuthorView): Version {
  const { secret, createdAt, quotedMessageId } = data;
  const { content, attachments, images, mentions } = secret;
  const since =
    'editedAt' in data ? data.editedAt : 'updatedAt' in data ? (data.updatedAt ?? createdAt) : createdAt;
  return { content, attachments, images, mentions, quotedMessageId, author, createdAt: since };
}
