/** Histories of messages for the search index, with the messages that exist at their end. */
import fc from 'fast-check';
import { EMPTY_CONTENT } from '../../../../domain/chat/events/messages.js';
import { NOON } from '../../../support/chat-fixtures.js';
import type { SearchEvent } from './search-index.js';

const PLACES = ['one', 'two', 'three'];
const AUTHORS = ['ada', 'bob'];
export const WORDS = ['alpha', 'Beta', 'gamma', 'alphabet', 'ΣΊΣΥΦΟΣ', 'x', 'zz-top', '😀', 'Größe'];

/** What a member does, or what happens to a channel; places, authors, words and messages by index. */
export type Act =
  | {
      readonly act: 'post' | 'reply';
      readonly place: number;
      readonly author: number;
      readonly words: number[];
    }
  | { readonly act: 'edit'; readonly which: number; readonly words: number[] }
  | { readonly act: 'delete'; readonly which: number }
  | { readonly act: 'erase'; readonly place: number };

const words = fc.array(fc.nat(WORDS.length - 1), { minLength: 1, maxLength: 4 });
/** Mostly one channel, so that blocks become full. */
const place = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 1, 2);
const writing = fc.record({
  act: fc.constantFrom('post' as const, 'post' as const, 'reply' as const),
  place,
  author: fc.nat(1),
  words,
});
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 60, arbitrary: writing },
  { weight: 6, arbitrary: fc.record({ act: fc.constant('edit' as const), which: fc.nat(), words }) },
  { weight: 6, arbitrary: fc.record({ act: fc.constant('delete' as const), which: fc.nat() }) },
);
export const history = fc
  .tuple(fc.array(act, { minLength: 700, maxLength: 1000 }), fc.boolean())
  .map(([acts, isErased]) =>
    // Finally, a channel is erased.
    isErased ? [...acts, { act: 'erase' as const, place: 1 }] : acts,
  );

export interface ExistingMessage {
  readonly id: string;
  readonly place: string;
  readonly author: string;
  readonly parent?: string;
  content: string;
}

/** The events of the acts, and the messages that exist at the end, oldest first. */
export function simulate(acts: readonly Act[]): {
  readonly events: SearchEvent[];
  readonly existing: ExistingMessage[];
} {
  const events: SearchEvent[] = [];
  let existing: ExistingMessage[] = [];
  const thread = { replyCount: 1, lastReplyAt: NOON, lastReplyBy: 'ada', participants: ['ada'] };
  const quotedMessageId = null;
  for (const [index, each] of acts.entries()) {
    const createdAt = NOON + index;
    if (each.act === 'erase') {
      const channelId = PLACES[each.place]!;
      events.push({ type: 'ChannelErased', data: { channelId, erasedAt: createdAt } });
      existing = existing.filter((one) => one.place !== channelId);
      continue;
    }
    if ('author' in each) {
      const [channelId, author] = [PLACES[each.place]!, AUTHORS[each.author]!];
      const content = each.words.map((word) => WORDS[word]).join(' ');
      const secret = { ...EMPTY_CONTENT, content };
      const parent =
        each.act === 'reply' ? existing.findLast((one) => one.place === channelId && !one.parent) : undefined;
      const common = { channelId, author, createdAt, quotedMessageId, secret };
      if (parent) {
        const id = `${parent.id}.r${index}`;
        const data = { messageId: parent.id, replyId: id, thread, ...common };
        events.push({ type: 'ReplyPosted', data });
        existing.push({ id, place: channelId, author, content, parent: parent.id });
      } else {
        const id = `m${index}`;
        events.push({ type: 'MessagePosted', data: { messageId: id, ...common } });
        existing.push({ id, place: channelId, author, content });
      }
      continue;
    }
    const one = existing[each.which % Math.max(1, existing.length)];
    if (!one) continue;
    const { id, place: channelId, author } = one;
    const about = { channelId, author, by: author };
    if (each.act === 'delete') {
      const data = { messageId: id, deletedAt: createdAt, postedPosition: '1', ...about };
      events.push({ type: 'MessageDeleted', data });
      existing = existing.filter((other) => other.id !== id && other.parent !== id);
      continue;
    }
    one.content = each.words.map((word) => WORDS[word]).join(' ');
    const secret = { ...EMPTY_CONTENT, content: one.content };
    const times = { createdAt: NOON, quotedMessageId };
    const rest = { updatedAt: createdAt, pinnedAt: null, secret: { ...secret, reactions: {} } };
    events.push({ type: 'MessageEdited', data: { messageId: id, ...about, ...times, ...rest } });
  }
  return { events, existing };
}
