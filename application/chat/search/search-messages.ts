/** Searches messages by parts of words, within what the caller may see. */

import { CHANNELS, channelFor } from '../../../domain/chat/channels.js';
import { isDirect, participantsOf } from '../../../domain/chat/events/channels.js';
import { parentOf } from '../../../domain/chat/events/messages.js';
import type { RosterState } from '../../../domain/chat/roster.js';
import { foldText, MAX_WORDS, wordsOf } from '../../../domain/chat/text-search.js';
import { type Rejection, rejection } from '../../../domain/shared/index.js';
import { serializeList, sliceExpired, yieldToEventLoop } from '../../concurrency/index.js';
import { awaitConsistent, maxPosition } from '../../consistency/index.js';
import type { Position } from '../../ports/index.js';
import { channelsAggregate } from '../aggregates.js';
import { speakerView } from '../messages/message-view.js';
import { createPageThrottle, type Reader, type RenderedPage } from '../messages/read-messages.js';
import type { Visibility } from '../messages/visibility.js';
import type { Caller, ChatPorts } from '../sign-in/authenticate.js';

/** Folded part of a word, and the users with names that contain it: all their messages match. */
export interface QueryWord {
  readonly text: string;
  readonly authors: ReadonlySet<string>;
}

export interface SearchQuery {
  readonly words: readonly QueryWord[];
  readonly isVisible: (channelId: string) => boolean;
  readonly authorId?: string | undefined;
  /** Time of posting, Unix ms, both inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly limit: number;
}

export interface Hit {
  readonly id: string;
  readonly channelId: string;
  readonly author: string;
  readonly createdAt: number;
  readonly content: string;
  readonly botName?: string;
}

export interface SearchIndex {
  /** Newest first. */
  find(query: SearchQuery): Promise<readonly Hit[]>;
}

export interface SearchServicePorts extends Pick<ChatPorts, 'projectionProgress' | 'admission'> {
  readonly index: SearchIndex;
  readonly visibility: Pick<Visibility, 'findAny'>;
}

export interface SearchInput extends Pick<SearchQuery, 'authorId' | 'from' | 'to' | 'limit'> {
  readonly q: string;
  readonly channelId?: string;
  readonly conversationId?: string;
}

const blankQuery = rejection('chat/blank-query', 'invalid', 'q must not be blank');
const tooManyWords = rejection('chat/too-many-words', 'invalid', `q must have at most ${MAX_WORDS} different words`);

export type Search = ReturnType<typeof createSearch>;

export function createSearch({ index, projectionProgress, admission, visibility }: SearchServicePorts) {
  const throttle = createPageThrottle();

  /** Builds the visibility check from the log's state as of `seen` or later. */
  async function visibilityFor(caller: Caller, seen?: Position): Promise<(place: string) => boolean> {
    const { state: channels } = await admission.load(channelsAggregate, CHANNELS, seen);
    return (place) =>
      isDirect(place)
        ? participantsOf(place)?.includes(caller.userId) === true
        : channelFor(channels, place, caller) !== undefined;
  }

  /** Hits that are not deleted, nor replies to a deleted message, by the log. */
  async function existing(hits: readonly Hit[]): Promise<readonly Hit[]> {
    const found: Hit[] = [];
    for (const hit of hits) if (!('rejected' in (await visibility.findAny(hit.id)))) found.push(hit);
    return found;
  }

  return async function search(
    caller: Caller,
    { q, channelId, conversationId, authorId, from, to, limit }: SearchInput,
    request: Reader['request'],
    seenByCaller?: Position,
  ): Promise<RenderedPage | Rejection> {
    const words = wordsOf(q);
    if (words.length === 0) return blankQuery;
    if (words.length > MAX_WORDS) return tooManyWords;
    const freshness = await awaitConsistent(projectionProgress, 'chat.search', {
      lastAppend: projectionProgress.latestOf('chat'),
      seenByCaller,
    });
    const { state: roster } = await admission.roster(seenByCaller);
    const selectedIds = [channelId, conversationId].filter((each) => each !== undefined);
    const queryWords: QueryWord[] = [];
    for (const text of words) queryWords.push({ text, authors: await findAuthors(roster, text) });
    return throttle(limit, { userId: caller.userId, request }, async () => {
      // Read after waiting for the throttle, as access may have changed.
      const isVisible = await visibilityFor(caller, seenByCaller);
      const isSearchable = (place: string) => selectedIds.every((each) => each === place) && isVisible(place);
      const found = await index.find({ words: queryWords, isVisible: isSearchable, authorId, from, to, limit });
      // The search takes time and may find newer messages: access is checked again as of the index position.
      const isVisibleNow = await visibilityFor(
        caller,
        maxPosition(projectionProgress.position('chat.search'), seenByCaller ?? 0n),
      );
      const visible = found.filter(({ channelId }) => isVisibleNow(channelId));
      // An index that lags may still have deleted messages.
      const hits = freshness.consistency ? await existing(visible) : visible;
      const messages = hits.map((each) => hitView(roster, each));
      return { json: await serializeList('messages', messages), ...freshness };
    });
  };
}

function hitView(roster: RosterState, { id, channelId, content, createdAt, ...by }: Hit) {
  const threadId = parentOf(id);
  const author = speakerView(roster, by.author, { content, ...by });
  return { id, channelId, content, author, createdAt, ...(threadId !== undefined && { threadId }) };
}

type FoldedNames = readonly { readonly id: string; readonly name: string }[];

const foldedNames = new WeakMap<RosterState, Promise<FoldedNames>>();

/** Includes former users: their messages still carry their names. */
async function findAuthors(roster: RosterState, word: string): Promise<ReadonlySet<string>> {
  const known = foldedNames.get(roster) ?? foldNames(roster);
  foldedNames.set(roster, known);
  const found = new Set<string>();
  for (const { id, name } of await known) {
    if (sliceExpired()) await yieldToEventLoop();
    if (name.includes(word)) found.add(id);
  }
  return found;
}

async function foldNames({ users }: RosterState): Promise<FoldedNames> {
  const all: { id: string; name: string }[] = [];
  for (const { id, userName } of users.values()) {
    if (sliceExpired()) await yieldToEventLoop();
    all.push({ id, name: foldText(userName) });
  }
  return all;
}
