/** Every version of a message, or of a reply, as the log has them. */
import { catalog } from '../../../domain/chat/catalog.js';
import type { MessageContent } from '../../../domain/chat/events/messages.js';
import { type MessageEvent, messageNotFound, messageStream } from '../../../domain/chat/message.js';
import type { RosterState } from '../../../domain/chat/roster.js';
import { replyWith } from '../../../domain/chat/thread.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { isEvent, PAGE, readForward } from '../../command/index.js';
import { sliceExpired, yieldToEventLoop } from '../../concurrency/index.js';
import { streamList } from '../../json/stream-list.js';
import type { DecryptEvent, EventLog, Position } from '../../ports/index.js';
import type { Authentication, Caller } from '../sign-in/authenticate.js';
import { type AuthorView, speakerView } from '../view-models.js';
import type { Pages } from './page-query.js';
import { parentOf, type Visibility } from './visibility.js';

export interface HistoryPorts {
  readonly log: Pick<EventLog, 'read'>;
  readonly reveal: DecryptEvent;
  readonly admission: Authentication;
  readonly places: Visibility;
  readonly pages: Pick<Pages, 'replyPosted'>;
}

/** What it said since `createdAt`, by whom. */
export interface Version extends Omit<MessageContent, 'botName'> {
  readonly author: AuthorView;
  readonly createdAt: number;
  readonly quotedMessageId: string | null;
}

type Telling = Extract<MessageEvent, { type: 'MessagePosted' | 'MessageEdited' | 'ReplyPosted' | 'ReplyEdited' }>;
const OF_MESSAGE: readonly Telling['type'][] = ['MessagePosted', 'MessageEdited'];
const OF_REPLY: readonly Telling['type'][] = ['ReplyPosted', 'ReplyEdited'];

/** Once told, it may be read once. */
export interface Versions {
  readonly position: Position;
  /** JSON: `{history: [Version]}`, oldest first. However many there are, a few of them are in hand. */
  pieces(): AsyncGenerator<string>;
}

/** Versions in hand at once: each may be of some ten kilobytes, and readers may be slow. */
const FEW = 20;

export type History = ReturnType<typeof createHistory>;

export function createHistory({ log, reveal, admission, places, pages }: HistoryPorts) {
  /** As of now: what is edited while it is read is not in it. */
  return async function history(caller: Caller, id: string, seen?: Position): Promise<Versions | Rejection> {
    const messageId = parentOf(id) ?? id;
    const isReply = messageId !== id;
    const place = isReply ? await replyPlace(caller, messageId, id, seen) : await places.locate(caller, id, seen);
    if (isRejection(place)) return place;
    const stream = messageStream(messageId);
    const newest = await log.read(stream, { backwards: true, limit: 1 });
    if (typeof newest === 'string' || !newest[0]) return messageNotFound;
    const { position, revision } = newest[0];
    const { state: roster } = await admission.roster(seen);
    const posted = 'posted' in place ? place.posted : undefined;
    const from = posted === undefined ? 0 : await shortlyBefore(stream, posted, revision);
    const told = versions(stream, from, position, roster, isReply ? id : undefined);
    return { position, pieces: () => pieces(told) };
  };

  /** By its row, or by all that has happened in its thread, where that tells of none. */
  async function replyPlace(caller: Caller, messageId: string, replyId: string, seen?: Position) {
    const place = await places.locate(caller, messageId, seen);
    if ('rejected' in place) return place;
    const posted = await pages.replyPosted(place.channelId, replyId, place.position);
    if (posted !== undefined) return { posted };
    const found = await places.message(caller, messageId, seen);
    if ('rejected' in found) return found;
    return replyWith(found.state.replies, replyId) ? {} : messageNotFound;
  }

  /** A revision from which on a page, or less, comes before an event: positions of a stream only ever grow. */
  async function shortlyBefore(stream: string, position: Position, newest: number): Promise<number> {
    let [before, after] = [0, newest];
    while (after - before > PAGE) {
      const middle = Math.floor((before + after) / 2);
      const found = await log.read(stream, { from: middle, limit: 1 });
      if (typeof found === 'string' || !found[0]) return before;
      if (found[0].position > position) after = middle;
      else before = middle;
    }
    return before;
  }

  /** Of the message, or of a reply to it. */
  async function* versions(stream: string, from: number, until: Position, roster: RosterState, replyId?: string) {
    const types = replyId === undefined ? OF_MESSAGE : OF_REPLY;
    // What is passed over is nothing that a reader keeps in hand: of a long thread it is nearly all.
    let told = true;
    for await (const page of readForward(log, stream, from, () => (told ? FEW : PAGE))) {
      told = false;
      for (const event of page) {
        if (event.position > until) return;
        if (sliceExpired()) await yieldToEventLoop();
        const type = types.find((each) => isEvent<Telling>(each, event));
        if (!type || (replyId !== undefined && event.data.replyId !== replyId)) continue;
        told = true;
        const { data } = await reveal<Telling>(catalog, event as never);
        yield [versionOf(data, speakerView(roster, data.author, data.secret))];
      }
      if (!told) yield [];
    }
  }
}

async function* pieces(versions: AsyncIterable<readonly Version[]>): AsyncGenerator<string> {
  yield* streamList('{"history":', versions);
  yield '}';
}

function versionOf(data: Telling['data'], author: AuthorView): Version {
  const { secret, createdAt, quotedMessageId } = data;
  const { content, attachments, images, mentions } = secret;
  const since = 'editedAt' in data ? data.editedAt : 'updatedAt' in data ? (data.updatedAt ?? createdAt) : createdAt;
  return { content, attachments, images, mentions, quotedMessageId, author, createdAt: since };
}
