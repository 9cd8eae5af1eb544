/** What the chat page does with gaps between reads, full or damaged storage, and changes by others, without a browser. */
import { expect } from 'chai';
import { importWeb } from '../support/web-module.js';
import { memoryStorage, useBrowserGlobals } from './browser-globals.js';

interface Channel {
  readonly name: string;
  readonly topic?: string;
  readonly isPrivate: boolean;
  readonly members: readonly string[];
}
interface Session {
  readonly refreshToken: string;
}
interface Message {
  readonly id: string;
  readonly content?: string;
}
interface Timeline {
  readonly messages: readonly Message[];
  readonly hasOlder: boolean;
}
interface State {
  readonly timelines: ReadonlyMap<string, Timeline>;
}
interface Counter {
  unread(state: object, marks: object): ReadonlyMap<string, { readonly count: number }>;
  threads(state: object, marks: object): readonly Message[];
}
interface Store {
  readonly state: { peek(): State };
  update(change: (state: State) => object): void;
  start(): () => void;
}
interface Timelines {
  loadAround(key: string, id: string): Promise<boolean>;
  bound(key: string): void;
}
interface Quotes {
  of(id: string, keys: readonly string[]): Message | 'gone' | undefined;
  onEvent(event: object): void;
}
interface PageModule {
  channelChanges(opened: Channel, now: Channel, input: Channel): Partial<Channel>;
  storedMarks(value: unknown): object | null;
  storedInput(value: unknown): object;
  storedOutgoing(value: unknown): object | undefined;
  beginSession(tokens: object): void;
  endSession(reason: 'left'): void;
  readonly session: { peek(): Session | null };
  createStore(deps: object): Store;
  createTimelines(deps: object): Timelines;
  createUnreadCounter(userId: string): Counter;
  createQuotes(store: object, actions: object): Quotes;
}

/** Lets everything run that waits for no timer. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('robustness of the chat page', () => {
  const localStorage = memoryStorage();
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const fetch = async () =>
    new Response(new ReadableStream<Uint8Array>({ start: (controller) => void streams.push(controller) }));
  useBrowserGlobals({ localStorage, fetch });
  let page: PageModule;
  before(async () => {
    page = await importWeb<PageModule>(
      'chat/state/channel-changes.ts',
      'chat/state/unread.ts',
      'chat/state/stored-input.ts',
      'chat/state/unread-counter.ts',
      'chat/session.ts',
      'chat/workspace/store.ts',
      'chat/workspace/timelines.ts',
      'chat/workspace/quotes.ts',
    );
  });

  it('sends what a form changes of a channel only, and keeps who others have removed away', () => {
    const opened = { name: 'plans', isPrivate: true, members: ['ada', 'bob', 'eve'] };
    const now = { ...opened, topic: 'set meanwhile', members: ['ada', 'bob', 'joe'] };
    const input = { ...opened, topic: '' };
    expect(page.channelChanges(opened, now, { ...input, name: 'new plans' })).to.deep.equal({ name: 'new plans' });
    expect(page.channelChanges(opened, now, { ...input, members: ['ada', 'eve', 'zoe'] })).to.deep.equal({
      members: ['ada', 'joe', 'zoe'],
    });
    expect(page.channelChanges(opened, now, input)).to.deep.equal({});
  });

  it('keeps no old tokens when the storage is full', () => {
    const payload = Buffer.from(JSON.stringify({ sub: 'ada', username: 'Ada', role: 'user' })).toString('base64url');
    const tokens = (refreshToken: string) => ({ accessToken: `h.${payload}.s`, refreshToken, exp: 1e6 });
    page.beginSession(tokens('old'));
    expect(localStorage.getItem('chat.session')).to.contain('old');
    localStorage.isFull = true;
    page.beginSession(tokens('new'));
    expect(localStorage.getItem('chat.session')).to.equal(null);
    expect(page.session.peek()?.refreshToken).to.equal('new');
    page.endSession('left');
  });

  it('takes damaged values of the storage as missing', () => {
    for (const value of [null, 7, 'text', [], {}, { since: 1 }, { since: 1, read: { c1: 'x' }, muted: [] }])
      expect(page.storedMarks(value)).to.equal(null);
    const marks = { since: 1, read: { c1: 2 }, muted: ['c2'] };
    expect(page.storedMarks(marks)).to.deep.equal(marks);
    const empty = { content: '', attachments: [], images: [], quotedMessageId: null };
    const file = { filename: 'a', originalName: 'b' };
    for (const value of [null, 7, [], { content: 7, attachments: [null, 'x'], images: {}, quotedMessageId: [] }])
      expect(page.storedInput(value)).to.deep.equal(empty);
    expect(page.storedInput({ content: 'typed', attachments: [null, file] })).to.deep.equal({
      ...empty,
      content: 'typed',
      attachments: [file],
    });
    expect(page.storedOutgoing({ content: 'typed' })).to.equal(undefined);
    expect(page.storedOutgoing({ key: 'k', placeId: 'c1', writtenAt: 1, status: 'waiting' })).to.include({
      key: 'k',
      content: '',
    });
  });

  it('misses no message that arrives while the first of two reads is on its way', async () => {
    const answers: ((messages: readonly Message[]) => void)[] = [];
    const http = {
      json: (_method: string, path: string) =>
        path.endsWith('/messages')
          ? new Promise((resolve) => answers.push((messages) => resolve({ messages })))
          : Promise.resolve({ users: [], channels: [], conversations: [], presence: [], name: 'Team' }),
    };
    const store = page.createStore({ http, headers: () => ({}), onUnauthorized: async () => false });
    const stop = store.start();
    await settled();
    const around = page.createTimelines({ http, store }).loadAround('dm:1', 'm1');
    const event = { type: 'NEW_DM_MESSAGE', payload: { id: 'm3', channelId: 'dm:1' } };
    streams[0]?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
    await settled();
    answers[0]?.([{ id: 'm2' }]);
    await settled();
    answers[1]?.([{ id: 'm1' }]);
    expect(await around).to.equal(true);
    expect(
      store.state
        .peek()
        .timelines.get('dm:1')
        ?.messages.map(({ id }) => id),
    ).to.deep.equal(['m1', 'm2', 'm3']);
    stop();
    streams[0]?.close();
  });

  it('keeps the newest messages of places that are not in view, and loads older ones again', () => {
    const store = page.createStore({});
    const messages = Array.from({ length: 1000 }, (_, index) => ({ id: `m${index}` }));
    const timeline = { messages, hasOlder: false, hasNewer: false };
    store.update((state) => ({ ...state, timelines: new Map([['c1', timeline]]) }));
    page.createTimelines({ store }).bound('c1');
    const cached = store.state.peek().timelines.get('c1');
    expect(cached?.messages).to.deep.equal(messages.slice(-400));
    expect(cached?.hasOlder).to.equal(true);
  });

  it('counts what is unread again only where something has changed', () => {
    let reads = 0;
    const message = (id: string) => ({
      id,
      author: { id: 'bob' },
      mentions: [],
      get createdAt() {
        reads += 1;
        return 5;
      },
      get threadMeta() {
        reads += 1;
        return { lastReplyBy: { id: 'bob' }, lastReplyAt: 5, participants: ['ada'] };
      },
    });
    const counter = page.createUnreadCounter('ada');
    const marks = { since: 0, read: {}, muted: [] };
    const channels = new Map(['c1', 'c2'].map((id) => [id, {}]));
    const timelines = new Map([...channels.keys()].map((id) => [id, { messages: [message(`${id} first`)] }]));
    const state = { channels, conversations: new Map(), timelines };
    const [unread, threads] = [counter.unread(state, marks), counter.threads(state, marks)];
    expect([...unread].map(([id, { count }]) => [id, count])).to.deep.equal([
      ['c1', 1],
      ['c2', 1],
    ]);
    expect(threads).to.have.length(2);
    reads = 0;
    expect(counter.unread({ ...state }, marks)).to.equal(unread);
    expect(reads).to.equal(0);
    expect(counter.threads({ ...state }, marks)).to.equal(threads);
    const more = { messages: [message('c2 first'), message('c2 second')] };
    const changed = { ...state, timelines: new Map(timelines).set('c2', more) };
    expect(counter.unread(changed, marks).get('c2')?.count).to.equal(2);
    expect(counter.unread(changed, { ...marks, read: { c2: 5 } }).has('c2')).to.equal(false);
    expect(counter.threads(changed, { ...marks, read: { 'c2 first': 5 } })).to.have.length(2);
  });

  it('shows quoted messages as they are now', async () => {
    let answer: (versions: readonly object[]) => void = () => {};
    const history = () => new Promise((resolve) => (answer = resolve));
    const quotes = page.createQuotes({ state: { value: { timelines: new Map() } } }, { history });
    const update = (content: string) =>
      quotes.onEvent({ type: 'UPDATE_MESSAGE', payload: { id: 'm1', channelId: 'c1', content } });
    expect(quotes.of('m1', [])).to.equal(undefined);
    update('newer than the answer');
    answer([{ content: 'as it was' }]);
    await settled();
    expect(quotes.of('m1', [])).to.include({ content: 'newer than the answer' });
    update('edited');
    expect(quotes.of('m1', [])).to.include({ content: 'edited' });
    quotes.onEvent({ type: 'DELETE_THREAD_REPLY', payload: { id: 'm1', channelId: 'c1' } });
    expect(quotes.of('m1', [])).to.equal('gone');
  });
});
