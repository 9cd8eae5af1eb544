/** State of the chat page: events, pages, unread marks, rows and the outbox, without a browser. */
import { expect } from 'chai';
import fc from 'fast-check';
import { importWeb } from '../support/web-module.js';

interface Message {
  readonly id: string;
  readonly channelId: string;
  readonly author: { readonly id: string; readonly userName: string };
  readonly content: string;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly mentions: readonly string[];
  readonly reactions: { readonly [reaction: string]: readonly string[] };
  readonly [member: string]: unknown;
}
interface Timeline {
  readonly messages: readonly Message[];
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
}
interface State {
  readonly timelines: ReadonlyMap<string, Timeline>;
  readonly [member: string]: unknown;
}
interface Event {
  readonly type: string;
  readonly payload: object;
}
interface Marks {
  readonly since: number;
}
interface Outgoing {
  readonly key: string;
  readonly placeId: string;
  readonly threadId?: string;
  readonly status: 'waiting' | 'sending' | 'failed';
  readonly [member: string]: unknown;
}
interface Row {
  readonly kind: string;
  readonly key: string;
  readonly isFirst?: boolean;
}
interface ChatStateModule {
  readonly initialState: State;
  applyEvent(state: State, event: Event): State;
  withTimeline(state: State, key: string, timeline: Timeline): State;
  refresh(timeline: Timeline | undefined, page: readonly Message[], isFull: boolean): Timeline;
  prepend(timeline: Timeline, page: readonly Message[], isFull: boolean): Timeline;
  newMarks(since: number): Marks;
  markRead(marks: Marks, key: string, at: number): Marks;
  markUnread(marks: Marks, key: string, at: number): Marks;
  unreadOf(state: State, marks: Marks, placeId: string, userId: string): { count: number; mentions: number };
  nextToSend(outbox: readonly Outgoing[]): readonly Outgoing[];
  restored(outbox: readonly Outgoing[]): readonly Outgoing[];
  rowsOf(input: object): readonly Row[];
  createHeights(): {
    update(keys: readonly string[], estimate: (index: number) => number): void;
    set(key: string, height: number): boolean;
    indexOf(key: string): number;
    offset(index: number): number;
    total(): number;
    at(distance: number): number;
  };
}

const CHANNEL = 'c1';
const MINUTE = 60_000;
const NOON = new Date(2026, 10, 27, 12).getTime();

const message = (id: string, more: Partial<Message> = {}): Message => ({
  id,
  channelId: CHANNEL,
  author: { id: 'ada', userName: 'Ada' },
  content: id,
  attachments: [],
  images: [],
  mentions: [],
  quotedMessageId: null,
  pinnedAt: null,
  createdAt: NOON,
  updatedAt: null,
  reactions: {},
  ...more,
});

/** What happens in a channel, as the service's state and its events. */
type Step =
  | { readonly what: 'post' }
  | { readonly what: 'edit' | 'delete'; readonly at: number }
  | { readonly what: 'react'; readonly at: number; readonly user: string; readonly isOn: boolean };

const steps = fc.array(
  fc.oneof(
    fc.constant({ what: 'post' } as const),
    fc.record({ what: fc.constantFrom('edit' as const, 'delete' as const), at: fc.nat(9) }),
    fc.record({
      what: fc.constant('react' as const),
      at: fc.nat(9),
      user: fc.constantFrom('ada', 'bob'),
      isOn: fc.boolean(),
    }),
  ),
  { minLength: 1, maxLength: 30 },
);

/** Runs steps; `pages[n]` is the channel after `n` events. */
function serve(history: readonly Step[]): { events: Event[]; pages: Message[][] } {
  const events: Event[] = [];
  const pages: Message[][] = [[]];
  let clock = NOON;
  for (const step of history) {
    const page = pages.at(-1) ?? [];
    clock += 1;
    if (step.what === 'post') {
      const { reactions: _, ...payload } = message(`m${clock}`, { createdAt: clock });
      events.push({ type: 'NEW_MESSAGE', payload });
      pages.push([...page, { ...payload, reactions: {} } as Message]);
      continue;
    }
    const found = page[step.at % Math.max(1, page.length)];
    if (!found) continue;
    const change = (changed: Message) => pages.push(page.map((each) => (each === found ? changed : each)));
    if (step.what === 'delete') {
      events.push({ type: 'DELETE_MESSAGE', payload: { id: found.id, channelId: CHANNEL } });
      pages.push(page.filter((each) => each !== found));
    } else if (step.what === 'edit') {
      const { reactions: _, ...payload } = { ...found, content: `edited ${clock}`, updatedAt: clock };
      events.push({ type: 'UPDATE_MESSAGE', payload });
      change({ ...payload, reactions: found.reactions } as Message);
    } else if (step.what === 'react') {
      const users = (found.reactions.ok ?? []).filter((user) => user !== step.user);
      if (step.isOn === (found.reactions.ok ?? []).includes(step.user)) continue;
      const type = step.isOn ? 'NEW_REACTION' : 'DELETE_REACTION';
      events.push({ type, payload: { messageId: found.id, channelId: CHANNEL, userId: step.user, reaction: 'ok' } });
      const reacted = step.isOn ? [...users, step.user] : users;
      change({ ...found, reactions: reacted.length > 0 ? { ok: reacted } : {} });
    }
  }
  return { events, pages };
}

/** Order of users of a reaction has no meaning. */
const sorted = (messages: readonly Message[]) =>
  messages.map(({ reactions, ...rest }) => ({
    ...rest,
    reactions: Object.fromEntries(Object.entries(reactions).map(([name, users]) => [name, [...users].sort()])),
  }));

describe('state of the chat page', () => {
  let chat: ChatStateModule;
  before(async () => {
    chat = await importWeb<ChatStateModule>(
      'chat/state/chat-state.ts',
      'chat/state/events.ts',
      'chat/state/timeline.ts',
      'chat/state/unread.ts',
      'chat/state/outbox.ts',
      'chat/state/rows.ts',
      'shared/components/row-heights.ts',
    );
  });

  const withPage = (page: readonly Message[], isFull = false) =>
    chat.withTimeline(chat.initialState, CHANNEL, chat.refresh(undefined, page, isFull));
  const shown = (state: State) => state.timelines.get(CHANNEL)?.messages ?? [];
  const contents = (state: State) => shown(state).map(({ content }) => content);

  it('ends as the service has it, whenever a page is read between events that arrive again', () => {
    fc.assert(
      fc.property(steps, fc.nat(), fc.nat(), fc.nat(), (history, a, b, c) => {
        const { events, pages } = serve(history);
        const [start = 0, readAt = 0, answeredAt = 0] = [a, b, c]
          .map((each) => each % (events.length + 1))
          .sort((x, y) => x - y);
        // Events since the start of the read are applied to its page once more.
        const loaded = events.slice(start, answeredAt).reduce(chat.applyEvent, withPage(pages[readAt] ?? []));
        const final = events.slice(answeredAt).reduce(chat.applyEvent, loaded);
        expect(sorted(shown(final))).to.deep.equal(sorted(pages.at(-1) ?? []));
      }),
    );
  });

  it('ignores an answer that is older than an event', () => {
    const state = withPage([message('m1', { content: 'newer', updatedAt: NOON + 2 })]);
    const late = { type: 'UPDATE_MESSAGE', payload: message('m1', { content: 'older', updatedAt: NOON + 1 }) };
    expect(contents(chat.applyEvent(state, late))).to.deep.equal(['newer']);
  });

  it('keeps what is loaded when the newest page overlaps it, and starts again after a gap', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => message(id));
    const loaded = chat.prepend(chat.refresh(undefined, [b!, c!], true), [a!], false);
    expect(chat.refresh(loaded, [c!, d!], true)).to.deep.equal({
      messages: [a, b, c, d],
      hasOlder: false,
      hasNewer: false,
    });
    expect(chat.refresh(loaded, [d!], true)).to.deep.equal({ messages: [d], hasOlder: true, hasNewer: false });
  });

  it('does not append to the past that a reader has jumped to', () => {
    const past = chat.withTimeline(chat.initialState, CHANNEL, {
      messages: [message('old')],
      hasOlder: true,
      hasNewer: true,
    });
    expect(contents(chat.applyEvent(past, { type: 'NEW_MESSAGE', payload: message('new') }))).to.deep.equal(['old']);
  });

  it('counts unread messages of others, and those that address the user', () => {
    const by = (id: string, at: number, more: Partial<Message> = {}) => message(id, { createdAt: NOON + at, ...more });
    const state = withPage([
      by('read', 0),
      by('own', 1, { author: { id: 'me', userName: 'Me' } }),
      by('plain', 2),
      by('to me', 3, { mentions: ['me'] }),
      by('to all', 4, { mentions: ['@channel'] }),
    ]);
    const marks = chat.newMarks(NOON);
    expect(chat.unreadOf(state, marks, CHANNEL, 'me')).to.deep.equal({ count: 3, mentions: 2 });
    const read = chat.markRead(marks, CHANNEL, NOON + 4);
    expect(chat.unreadOf(state, read, CHANNEL, 'me').count).to.equal(0);
    expect(chat.markRead(read, CHANNEL, NOON)).to.equal(read);
    expect(chat.unreadOf(state, chat.markUnread(read, CHANNEL, NOON + 4), CHANNEL, 'me').count).to.equal(1);
  });

  it('groups messages of one author, and separates days and what is new', () => {
    const rows = chat.rowsOf({
      messages: [
        message('1', { createdAt: NOON - 24 * 60 * MINUTE }),
        message('2'),
        message('3', { createdAt: NOON + MINUTE }),
        message('4', { createdAt: NOON + 2 * MINUTE }),
        message('5', { createdAt: NOON + 20 * MINUTE }),
        message('6', { createdAt: NOON + 20 * MINUTE, author: { id: 'bob', userName: 'Bob' } }),
      ],
      userId: 'me',
      newAfter: NOON + MINUTE,
    });
    expect(rows.map(({ kind, key, isFirst }) => (kind === 'message' ? `${key}${isFirst ? ' first' : ''}` : kind)))
      .to //
      .deep.equal(['day', '1 first', 'day', '2 first', '3', 'new', '4 first', '5 first', '6 first']);
  });

  it('sends one message at a time per timeline, in order, and again after a reload', () => {
    const outgoing = (key: string, status: Outgoing['status'], threadId?: string): Outgoing => ({
      key,
      placeId: CHANNEL,
      status,
      ...(threadId !== undefined && { threadId }),
    });
    const outbox = [
      outgoing('refused', 'failed'),
      outgoing('first', 'waiting'),
      outgoing('second', 'waiting'),
      outgoing('in a thread', 'waiting', 'm1'),
    ];
    const keys = (list: readonly Outgoing[]) => list.map(({ key }) => key);
    expect(keys(chat.nextToSend(outbox))).to.deep.equal(['first', 'in a thread']);
    const sending = outbox.map((each) => (each.key === 'first' ? { ...each, status: 'sending' as const } : each));
    expect(keys(chat.nextToSend(sending))).to.deep.equal(['in a thread']);
    expect(keys(chat.nextToSend(chat.restored(sending)))).to.deep.equal(['first', 'in a thread']);
  });

  it('estimates the height of a row once, however many pages come before it', () => {
    const heights = chat.createHeights();
    const estimated: string[] = [];
    const layOut = (keys: readonly string[]) =>
      heights.update(keys, (index) => {
        estimated.push(keys[index]!);
        return 50;
      });
    layOut(['c', 'd']);
    expect(heights.set('d', 70)).to.equal(true);
    const all = ['a', 'b', 'c', 'd'];
    layOut(all);
    heights.set('a', 20);
    heights.set('gone', 5);
    layOut(all);
    expect(estimated).to.deep.equal(['c', 'd', 'a', 'b']);
    expect(all.map((_, index) => heights.offset(index))).to.deep.equal([0, 20, 70, 120]);
    expect(heights.total()).to.equal(190);
    expect([heights.indexOf('c'), heights.indexOf('gone'), heights.at(119), heights.at(500)]).to.deep.equal([
      2, -1, 2, 3,
    ]);
    layOut(['d', 'e']);
    expect([heights.offset(1), heights.total()]).to.deep.equal([70, 120]);
  });
});
