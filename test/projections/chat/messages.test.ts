/** Rows of messages, replies and conversations: equal to the decider, with bounded size. */
import { expect } from 'chai';
import fc from 'fast-check';
import { Long } from 'mongodb';
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { conversation } from '../../../domain/chat/conversation.js';
import { conversationSubject } from '../../../domain/chat/events/channels.js';
import { type MessageCommand, type MessageEvent, message, messageStream } from '../../../domain/chat/message.js';
import { type ThreadCommand, type ThreadEvent, threadOf, threadStream } from '../../../domain/chat/thread.js';
import { conversations, messages } from '../../../projections/chat/messages.js';
import {
  ADA,
  asUser,
  BOB,
  CHANNEL,
  CYD,
  DIRECT,
  deleteMessage,
  deleteReply,
  editMessage,
  editReply,
  NOON,
  pin,
  postMessage,
  postReply,
  react,
  runMessages,
  startConversation,
  unpin,
  unreact,
  withContent,
} from '../../support/chat-fixtures.js';
import { specOf } from '../../support/decider-spec.js';
import { projectionSpec, type ShownRow, sealed } from '../../support/projection-spec.js';

const { run } = specOf(message);
const FIRST = 9_007_199_254_740_993n;
const at = (index: number) => Long.fromBigInt(FIRST + BigInt(index));
const ended: ChatEvent<'ChannelErased'> = {
  type: 'ChannelErased',
  data: { channelId: CHANNEL, erasedAt: NOON },
};

type RowEvent = MessageEvent | ThreadEvent | ChatEvent<'ChannelErased' | 'ConversationStarted'>;
const streamOf = ({ type, data }: RowEvent) =>
  'messageId' in data
    ? (type.startsWith('Reply') ? threadStream : messageStream)(data.messageId)
    : 'conversationId' in data
      ? conversationSubject(data.conversationId)
      : 'chat.channels-main';
const hello = postMessage('hello');
const eventsOf = (...commands: readonly (MessageCommand | ThreadCommand)[]) => runMessages([hello, ...commands]).events;
const row = {
  _id: 'm',
  list: CHANNEL,
  posted: at(0),
  author: ADA,
  createdAt: NOON,
  updatedAt: null,
  pinnedAt: null,
  quotedMessageId: null,
  secret: sealed(withContent('hello')),
};
const whole = (content: string) => sealed({ ...withContent(content), reactions: {} });

describe('the rows of messages', function () {
  this.timeout(120_000);
  const { given } = projectionSpec(messages, streamOf);

  it('contain content, channel and position', () => given(...eventsOf()).thenRows(row));

  it('are indexed by channel or thread in log order, by pin, and by message for further reactions', () => {
    expect(messages.indexes).to.deep.equal([
      { key: { list: 1, posted: 1 } },
      { key: { parentChannel: 1, place: 1 }, sparse: true },
      { key: { pinnedIn: 1, pinned: 1 }, sparse: true },
      { key: { of: 1 }, sparse: true },
    ]);
  });

  it('contain the edited content and the edit time', () =>
    given(...eventsOf(editMessage('hi'))).thenRows({ ...row, updatedAt: NOON + 1, secret: whole('hi') }));

  it('contain the pin and its index while pinned', async () => {
    const pinned = { pinnedAt: NOON + 2, pinnedIn: CHANNEL, pinned: at(1) };
    await given(...eventsOf(pin())).thenRows({ ...row, ...pinned });
    await given(...eventsOf(pin(), unpin())).thenRows(row);
  });

  it('contain the thread summary of the last event', async () => {
    const thread = { replyCount: 1, lastReplyAt: NOON + 6, lastReplyBy: BOB, participants: [BOB] };
    const parentIn = async (...commands: readonly (MessageCommand | ThreadCommand)[]) =>
      (await given(...eventsOf(...commands)).rows())[0];
    expect(await parentIn(postReply('yes'))).to.deep.equal({ ...row, thread });
    const both = [postReply('yes'), postReply('no', CYD), deleteReply('m.no', asUser(CYD))];
    expect(await parentIn(...both)).to.deep.equal({ ...row, thread });
    expect(await parentIn(postReply('yes'), deleteReply('m.yes'))).to.deep.equal({ ...row, thread: null });
  });

  it('are reduced to their position on deletion, and deleted with their channel', async () => {
    const reactionCommands = Array.from({ length: 40 }, (_, index) => react('+1', `u${index}`));
    // Only the position remains, even if the log no longer has the post.
    const remaining = { _id: 'm', list: CHANNEL, place: at(0) };
    const events = eventsOf(...reactionCommands, postReply('yes'), pin(), deleteMessage());
    await given(...events).thenRows(remaining);
    await given(events.at(-1)!).thenRows(remaining);
    await given(...events, ended).thenNoRows();
    await given(...eventsOf(...reactionCommands), ended).thenNoRows();
    const otherChannel = run([{ ...hello, messageId: 'n', channelId: 'other' }]).events;
    const rows = await given(...eventsOf(), ...otherChannel, ended).rows();
    expect(rows.map(({ _id }) => _id)).to.deep.equal(['n']);
  });

  type Entry = { readonly place: number; readonly sign: number; readonly userId: string };
  const reactionsIn = (rows: readonly ShownRow[]) =>
    rows.flatMap(({ reactions }) => (reactions ?? []) as readonly Entry[]);

  it('contain the first 32 reactions, with further ones in rows of 32', async () => {
    const reactionCommands = Array.from({ length: 100 }, (_, index) => react('+1', `u${index}`));
    const rows = await given(...eventsOf(...reactionCommands.slice(0, 32))).rows();
    expect(rows).to.have.length(1);
    expect(rows[0]).not.to.have.property('more');
    const further = await given(...eventsOf(...reactionCommands)).rows();
    expect(further.map(({ _id, reactions }) => [_id, (reactions as Entry[]).length])).to.deep.equal([
      ['m', 32],
      ['m:00000001', 32],
      ['m:00000002', 32],
      ['m:00000003', 4],
    ]);
    expect(further[0]).to.include({ more: true });
    for (const each of further.slice(1)) expect(each).to.include({ of: 'm', list: CHANNEL });
    expect(reactionsIn(further).map(({ userId }) => userId)).to.deep.equal(
      Array.from({ length: 100 }, (_, index) => `u${index}`),
    );
  });

  it('lose a removed reaction from any row', async () => {
    const reactionCommands = Array.from({ length: 40 }, (_, index) => react('+1', `u${index}`));
    const rows = await given(...eventsOf(...reactionCommands, unreact('+1', 'u3'), unreact('+1', 'u35'))).rows();
    expect(reactionsIn(rows).map(({ place }) => place)).to.deep.equal(
      Array.from({ length: 40 }, (_, index) => index).filter((each) => each !== 3 && each !== 35),
    );
  });

  const who = fc.constantFrom(ADA, BOB, CYD);
  const sign = fc.constantFrom('+1', '-1', 'x', 'y', 'z');
  const command: fc.Arbitrary<MessageCommand | ThreadCommand> = fc.oneof(
    fc.tuple(fc.constantFrom('a', 'b'), who).map(([text, by]) => editMessage(text, by)),
    who.map((by) => pin(by)),
    who.map((by) => unpin(by)),
    { weight: 6, arbitrary: fc.tuple(sign, fc.nat(12)).map(([text, n]) => react(text, `u${n}`)) },
    { weight: 2, arbitrary: fc.tuple(sign, fc.nat(12)).map(([text, n]) => unreact(text, `u${n}`)) },
    { weight: 2, arbitrary: fc.tuple(who, fc.nat(9)).map(([by, n]) => postReply(`r${n}`, by)) },
    { weight: 1, arbitrary: fc.tuple(who, fc.nat(9)).map(([by, n]) => deleteReply(`m.r${n}`, asUser(by))) },
  );

  it('equal the state of the decider after any commands', async () => {
    const property = fc.asyncProperty(fc.array(command, { maxLength: 80 }), async (commands) => {
      const { events, messageOf, threadFor } = runMessages([hello, ...commands]);
      const all = await given(...events).rows();
      const state = messageOf('m');
      const [first] = all;
      // Without those of replies.
      const rows = all.filter(({ list }) => list === CHANNEL);
      expect(first).to.deep.include({ pinnedAt: state.pinnedAt, updatedAt: state.updatedAt });
      expect(first?.thread ?? null).to.deep.equal(threadOf(threadFor('m')));
      const known = [...state.reactions.present.values()].sort((a, b) => a.place - b.place);
      expect(
        reactionsIn(rows).map(({ place, sign: number, userId }) => ({ userId, place, sign: number })),
      ).to.deep.equal(known);
      for (const { reactions = [] } of rows) expect(reactions).to.have.length.of.at.most(32);
    });
    await fc.assert(property, { numRuns: 8 });
  });
});

describe('the rows of replies', function () {
  this.timeout(120_000);
  const { given } = projectionSpec(messages, streamOf);
  const reply = {
    _id: 'm.yes',
    list: 'm',
    parentChannel: CHANNEL,
    posted: at(2),
    place: at(2),
    author: BOB,
    createdAt: NOON + 6,
    updatedAt: null,
    pinnedAt: null,
    quotedMessageId: null,
    secret: sealed(withContent('yes')),
  };

  const replyRows = async (...commands: readonly (MessageCommand | ThreadCommand)[]) =>
    (await given(...eventsOf(...commands)).rows()).filter(({ _id }) => _id !== 'm');

  it('contain content, edits and reactions', async () => {
    expect(await replyRows(postReply('yes'))).to.deep.equal([reply]);
    const changes = [editReply('m.yes', 'no'), { ...react('+1'), messageId: 'm.yes' }];
    expect(await replyRows(postReply('yes'), ...changes)).to.deep.equal([
      {
        ...reply,
        updatedAt: NOON + 7,
        secret: sealed({ ...withContent('no'), reactions: {} }),
        reactions: [{ place: 0, sign: 0, userId: BOB, secret: sealed({ reaction: '+1' }) }],
      },
    ]);
  });

  it('are reduced or deleted with the reply, its message and its channel', async () => {
    const history = [postReply('yes'), postReply('no', CYD)];
    const many = Array.from({ length: 40 }, (_, n) => ({ ...react('+1', `u${n}`), messageId: 'm.no' }));
    const rows = await replyRows(...history, deleteReply('m.yes'));
    expect(rows.map(({ _id }) => _id)).to.deep.equal(['m.no', 'm.yes']);
    expect(rows[1]).to.deep.equal({ _id: 'm.yes', list: 'm', parentChannel: CHANNEL, place: at(2) });
    expect(await replyRows(...history, ...many)).to.have.length(3);
    expect(await replyRows(...history, ...many, deleteReply('m.yes'), deleteMessage())).to.deep.equal([]);
    await given(...eventsOf(...history, deleteReply('m.yes')), ended).thenNoRows();
    await given(...eventsOf(...history, ...many), ended).thenNoRows();
  });
});

describe('the rows of conversations', function () {
  this.timeout(120_000);
  const { given } = projectionSpec(conversations, streamOf);
  const [started] = specOf(conversation).run([startConversation()]).events;
  const rowOf = (user: string, more: object) => ({
    _id: `${user} ${DIRECT}`,
    user,
    conversation: DIRECT,
    createdAt: NOON,
    ...more,
  });

  it('exist for both participants from the start of the conversation', () => {
    const fresh = { lastMessageAt: null, active: at(0) };
    return given(started!).thenRows(rowOf(ADA, fresh), rowOf(BOB, fresh));
  });

  it('move with messages of the conversation only', async () => {
    const posted = run([postMessage('hi', { channelId: DIRECT, now: NOON + 5 })]).events;
    const later = { lastMessageAt: NOON + 5, active: at(1) };
    await given(started!, ...posted, ...eventsOf()).thenRows(rowOf(ADA, later), rowOf(BOB, later));
    expect(conversations.indexes).to.deep.equal([{ key: { user: 1, active: 1 } }]);
  });
});
