/** Searching what was said: by parts of words, in what the caller may see. */
import { CHANNELS, channelFor } from '../../../domain/chat/channels.js';
import { isDirect, participantsOf } from '../../../domain/chat/conversation-id.js';
import type { RosterState } from '../../../domain/chat/roster.js';
import { foldText, MOST_WORDS, wordsOf } from '../../../domain/chat/text-search.js';
import type { Rejection } from '../../../domain/shared/index.js';
import { sliceExpired, yieldToEventLoop } from '../../concurrency/index.js';
import { awaitConsistent, maxPosition } from '../../consistency/index.js';
import { serializeList } from '../../json/serialize-list.js';
import type { Position, ProjectionProgress } from '../../ports/index.js';
import { channelsAggregate } from '../aggregates.js';
import { createPageThrottle, type Reader } from '../messages/page-throttle.js';
import type { RenderedPage } from '../messages/read-messages.js';
import { parentOf } from '../messages/visibility.js';
import type { Authentication, Caller } from '../sign-in/authenticate.js';
import { type AuthorView, speakerView } from '../view-models.js';

/** A part of a word, folded; and those whose names have it, who wrote all that they wrote with it. */
export interface WantedWord {
  readonly text: string;
  readonly authors: ReadonlySet<string>;
}

export interface SearchQuery {
  readonly words: readonly WantedWord[];
  readonly sees: (channelId: string) => boolean;
  readonly authorId?: string | undefined;
  /** Of when it was posted, Unix ms, both inclusive. */
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

export interface SearchPorts {
  readonly index: SearchIndex;
  readonly settled: ProjectionProgress;
  readonly admission: Authentication;
}

export interface Wish {
  readonly q: string;
  readonly channelId?: string;
  readonly conversationId?: string;
  readonly authorId?: string;
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
}

export interface FoundView {
  readonly id: string;
  readonly channelId: string;
  readonly content: string;
  readonly author: AuthorView;
  readonly createdAt: number;
  /** Of a reply. */
  readonly threadId?: string;
}

const blank: Rejection = { rejected: 'chat/blank-query', kind: 'invalid', detail: 'q must not be blank' };
const tooManyWords: Rejection = {
  rejected: 'chat/too-many-words',
  kind: 'invalid',
  detail: `q must have no more than ${MOST_WORDS} different words`,
};

export type Search = ReturnType<typeof createSearch>;

export function createSearch({ index, settled, admission }: SearchPorts) {
  const inTurn = createPageThrottle();

  /** What somebody sees, by the log as it was at `seen` or later. */
  async function seeing(caller: Caller, seen?: Position): Promise<(place: string) => boolean> {
    const { state: channels } = await admission.load(channelsAggregate, CHANNELS, seen);
    return (place) =>
      isDirect(place)
        ? participantsOf(place)?.includes(caller.userId) === true
        : channelFor(channels, place, caller) !== undefined;
  }

  return async function search(
    caller: Caller,
    { q, channelId, conversationId, authorId, from, to, limit }: Wish,
    seen?: Position,
    leaving?: Reader['leaving'],
  ): Promise<RenderedPage | Rejection> {
    const words = wordsOf(q);
    if (words.length === 0) return blank;
    if (words.length > MOST_WORDS) return tooManyWords;
    const reflected = await awaitConsistent(settled, 'chat.search', { told: settled.latestOf('chat'), seen });
    const { state: roster } = await admission.roster(seen);
    const places = [channelId, conversationId].filter((each) => each !== undefined);
    const wanted: WantedWord[] = [];
    for (const text of words) wanted.push({ text, authors: await authorsNamed(roster, text) });
    const asking = { userId: caller.userId, ...(leaving && { leaving }) };
    return inTurn(limit, asking, async () => {
      // As it is by now: they may have waited.
      const sees = await seeing(caller, seen);
      const asked = (place: string) => places.every((each) => each === place) && sees(place);
      const found = await index.find({ words: wanted, sees: asked, authorId, from, to, limit });
      // It takes a while, and finds what was said meanwhile.
      const seesStill = await seeing(caller, maxPosition(settled.position('chat.search'), seen ?? 0n));
      const messages = found.filter(({ channelId }) => seesStill(channelId)).map((each) => foundView(roster, each));
      return { json: await serializeList('messages', messages), ...reflected };
    });
  };
}

function foundView(roster: RosterState, { id, channelId, content, createdAt, ...by }: Hit): FoundView {
  const threadId = parentOf(id);
  const { botName } = by;
  const said = {
    content,
    attachments: [],
    images: [],
    mentions: [],
    ...(botName !== undefined && { botName }),
  };
  const author = speakerView(roster, by.author, said);
  return { id, channelId, content, author, createdAt, ...(threadId !== undefined && { threadId }) };
}

/** Folded names, a line each, in which a word is looked for at once. */
interface Names {
  readonly text: string;
  readonly ids: readonly string[];
  /** Where the line of each ends. */
  readonly ends: readonly number[];
}

/** Of a state that never changes. */
const folded = new WeakMap<RosterState, Promise<readonly Names[]>>();

/** Looked at between two looks at the time. */
const NAMES_AT_ONCE = 256;

/** Also of those who are gone: what they said bears their name. */
async function authorsNamed(roster: RosterState, word: string): Promise<ReadonlySet<string>> {
  const known = folded.get(roster) ?? foldNames(roster);
  folded.set(roster, known);
  const found = new Set<string>();
  for (const { text, ids, ends } of await known) {
    if (sliceExpired()) await yieldToEventLoop();
    let line = 0;
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, ends[line])) {
      while (ends[line]! <= at) line++;
      found.add(ids[line]!);
    }
  }
  return found;
}

async function foldNames({ users }: RosterState): Promise<readonly Names[]> {
  const all: Names[] = [];
  let some: { readonly id: string; readonly userName: string }[] = [];
  const fold = () => {
    const names = some.map(({ userName }) => `${foldText(userName)}\n`);
    let end = 0;
    const ends = names.map(({ length }) => (end += length));
    all.push({ text: names.join(''), ids: some.map(({ id }) => id), ends });
    some = [];
  };
  for (const user of users.values()) {
    some.push(user);
    if (some.length < NAMES_AT_ONCE) continue;
    fold();
    if (sliceExpired()) await yieldToEventLoop();
  }
  if (some.length > 0) fold();
  return all;
}
