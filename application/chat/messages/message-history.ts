/** Reads all versions of a message or reply from the event log. */
import { catalog } from '../../../domain/chat/catalog.js';
import { type MessageEvent, messageNotFound, messageStream } from '../../../domain/chat/message.js';
import type { RosterState } from '../../../domain/chat/roster.js';
import { isRejection } from '../../../domain/shared/index.js';
import { isEvent, readForward } from '../../command/index.js';
import { sliceExpired, streamList, yieldToEventLoop } from '../../concurrency/index.js';
import type { Position } from '../../ports/index.js';
import type { Caller, ChatPorts } from '../sign-in/authenticate.js';
import { type AuthorView, speakerView } from './message-view.js';
import type { Visibility } from './visibility.js';

export interface HistoryPorts extends Pick<ChatPorts, 'log' | 'decryptEvent' | 'admission'> {
  readonly visibility: Visibility;
}

type VersionEvent = Extract<MessageEvent, { type: 'MessagePosted' | 'ReplyWritten' | 'MessageEdited' }>;
const VERSIONS: readonly VersionEvent['type'][] = ['MessagePosted', 'ReplyWritten', 'MessageEdited'];

/** Versions in memory at a time: each may take some 10 KB, and readers may be slow. */
const BATCH_SIZE = 20;

export type History = ReturnType<typeof createHistory>;

export function createHistory({ log, decryptEvent, admission, visibility }: HistoryPorts) {
  /**
   * Pieces of the JSON `{history: [Version]}`, oldest first. Only a few versions are in memory at a time. Excludes edits
   * made while the history is being read.
   */
  return async function history(caller: Caller, id: string, seen?: Position) {
    const found = await visibility.message(caller, id, seen);
    if (isRejection(found)) return found;
    const stream = messageStream(id);
    const newest = await log.read(stream, { backwards: true, limit: 1 });
    if (typeof newest === 'string' || !newest[0]) return messageNotFound;
    const { position } = newest[0];
    const { state: roster } = await admission.roster(seen);
    return { position, pieces: () => streamList('{"history":', versions(stream, position, roster), '}') };
  };

  async function* versions(stream: string, until: Position, roster: RosterState) {
    for await (const page of readForward(log, stream, 0, BATCH_SIZE)) {
      for (const event of page) {
        if (event.position > until) return;
        if (sliceExpired()) await yieldToEventLoop();
        if (!VERSIONS.some((each) => isEvent<VersionEvent>(each, event))) continue;
        const { data } = await decryptEvent<VersionEvent>(catalog, event as never);
        yield [versionOf(data, speakerView(roster, data.author, data.secret))];
      }
    }
  }
}

function versionOf(data: VersionEvent['data'], author: AuthorView) {
  const { secret, createdAt, quotedMessageId } = data;
  const { content, attachments, images, mentions } = secret;
  const since = 'updatedAt' in data ? (data.updatedAt ?? createdAt) : createdAt;
  return { content, attachments, images, mentions, quotedMessageId, author, createdAt: since };
}
