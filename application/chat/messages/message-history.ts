/** Reads all versions of a message or reply from the event log. */
import { catalog } from '../../../domain/chat/catalog.js';
import type { MessageContent } from '../../../domain/chat/events/messages.js';
import { type MessageEvent, messageNotFound, messageStream } from '../../../domain/chat/message.js';
import type { RosterState } from '../../../domain/chat/roster.js';
import { findReply } from '../../../domain/chat/thread.js';
import { isRejection } from '../../../domain/shared/index.js';
import { isEvent, PAGE_EVENTS, readForward } from '../../command/index.js';
import { sliceExpired, streamList, yieldToEventLoop } from '../../concurrency/index.js';
import type { DecryptEvent, EventLog, Position } from '../../ports/index.js';
import type { Authentication, Caller } from '../sign-in/authenticate.js';
import type { PageQueries } from './message-rows.js';
import { type AuthorView, speakerView } from './message-view.js';
import { parentOf, type Visibility } from './visibility.js';

export interface HistoryPorts {
  readonly log: Pick<EventLog, 'read'>;
  readonly decryptEvent: DecryptEvent;
  readonly admission: Authentication;
  readonly visibility: Visibility;
  readonly pages: Pick<PageQueries, 'replyPosted'>;
}

export interface Version extends Omit<MessageContent, 'botName'> {
  readonly author: AuthorView;
  readonly createdAt: number;
  readonly quotedMessageId: string | null;
}

type VersionEvent = Extract<MessageEvent, { type: 'MessagePosted' | 'MessageEdited' | 'ReplyPosted' | 'ReplyEdited' }>;
const MESSAGE_VERSIONS: readonly VersionEvent['type'][] = ['MessagePosted', 'MessageEdited'];
const REPLY_VERSIONS: readonly VersionEvent['type'][] = ['ReplyPosted', 'ReplyEdited'];

/** History stream; can be read once. */
/** Versions in memory at a time: each may take some 10 KB, and readers may be slow. */
const BATCH_SIZE = 20;

export type History = ReturnType<typeof createHistory>;

export function createHistory({ log, decryptEvent, admission, visibility, pages }: HistoryPorts) {
  /**
   * Pieces of the JSON `{history: [Version]}`, oldest first. Only a few versions are in memory at a time. Excludes edits
   * made while the history is being read.
   */
  return async function history(caller: Caller, id: string, seen?: Position) {
    const messageId = parentOf(id) ?? id;
    const isReply = messageId !== id;
    const place = isReply ? await locateReply(caller, messageId, id, seen) : await visibility.locate(caller, id, seen);
    if (isRejection(place)) return place;
    const stream = messageStream(messageId);
    const newest = await log.read(stream, { backwards: true, limit: 1 });
    if (typeof newest === 'string' || !newest[0]) return messageNotFound;
    const { position, revision } = newest[0];
    const { state: roster } = await admission.roster(seen);
    const posted = 'posted' in place ? place.posted : undefined;
    const from = posted === undefined ? 0 : await findStartRevision(stream, posted, revision);
    const found = versions(stream, from, position, roster, isReply ? id : undefined);
    return { position, pieces: () => pieces(found) };
  };

  /** Locates a reply by its row, or by its thread when the row is missing. */
  async function locateReply(caller: Caller, messageId: string, replyId: string, seen?: Position) {
    const place = await visibility.locate(caller, messageId, seen);
    if ('rejected' in place) return place;
    const posted = await pages.replyPosted(place.channelId, replyId, place.position);
    if (posted !== undefined) return { posted };
    const found = await visibility.message(caller, messageId, seen);
    if ('rejected' in found) return found;
    return findReply(found.state.replies, replyId) ? {} : messageNotFound;
  }

  /** Finds by binary search a revision at most one page before the event; positions ascend within a stream. */
  async function findStartRevision(stream: string, position: Position, newest: number): Promise<number> {
    let [before, after] = [0, newest];
    while (after - before > PAGE_EVENTS) {
      const middle = Math.floor((before + after) / 2);
      const found = await log.read(stream, { from: middle, limit: 1 });
      if (typeof found === 'string' || !found[0]) return before;
      if (found[0].position > position) after = middle;
      else before = middle;
    }
    return before;
  }

  async function* versions(stream: string, from: number, until: Position, roster: RosterState, replyId?: string) {
    const types = replyId === undefined ? MESSAGE_VERSIONS : REPLY_VERSIONS;
    // Reads larger pages while nothing matches, as most of a long thread is skipped.
    let hasMatch = true;
    for await (const page of readForward(log, stream, from, () => (hasMatch ? BATCH_SIZE : PAGE_EVENTS))) {
      hasMatch = false;
      for (const event of page) {
        if (event.position > until) return;
        if (sliceExpired()) await yieldToEventLoop();
        const type = types.find((each) => isEvent<VersionEvent>(each, event));
        if (!type || (replyId !== undefined && event.data.replyId !== replyId)) continue;
        hasMatch = true;
        const { data } = await decryptEvent<VersionEvent>(catalog, event as never);
        yield [versionOf(data, speakerView(roster, data.author, data.secret))];
      }
      if (!hasMatch) yield [];
    }
  }
}

async function* pieces(versions: AsyncIterable<readonly Version[]>): AsyncGenerator<string> {
  yield* streamList('{"history":', versions);
  yield '}';
}

function versionOf(data: VersionEvent['data'], author: AuthorView): Version {
  const { secret, createdAt, quotedMessageId } = data;
  const { content, attachments, images, mentions } = secret;
  const since = 'editedAt' in data ? data.editedAt : 'updatedAt' in data ? (data.updatedAt ?? createdAt) : createdAt;
  return { content, attachments, images, mentions, quotedMessageId, author, createdAt: since };
}
