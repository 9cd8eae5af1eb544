/** Rules of reactions and threads of a message. */
import { expect } from 'chai';
import fc from 'fast-check';
import { MAX_CHANGES, type MessageCommand, message } from '../../../domain/chat/message.js';
import {
  MAX_REACTIONS_EVER,
  noReactions,
  reactionsOf,
  withoutReaction,
  withReaction,
} from '../../../domain/chat/reactions.js';
import { MAX_PARTICIPANTS, threadOf } from '../../../domain/chat/thread.js';
import { isRejection } from '../../../domain/shared/decider.js';
import {
  ADA,
  asAdmin,
  asUser,
  BOB,
  CHANNEL,
  CYD,
  deleteMessage,
  deleteReply,
  editMessage,
  editReply,
  NOON,
  pin,
  postMessage,
  postReply,
  react,
  saying,
  unpin,
  unreact,
} from '../../support/chat-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, run } = specOf(message);
const from = (...commands: readonly MessageCommand[]) => given(...run(commands).events);
const hello = postMessage('hello');

describe('reactions and thread of a message', () => {
  it('hold each reaction once per user', () => {
    from(hello, react('+1')).when(react('+1')).thenNothing();
    from(hello).when(unreact('+1')).thenNothing();
    from(hello, react('+1')).when(unreact('+1', CYD)).thenNothing();
    const { state } = run([hello, react('+1'), react('-1', CYD), react('+1', CYD), unreact('-1', CYD)]);
    expect(reactionsOf(state.reactions)).to.deep.equal({ '+1': [BOB, CYD] });
  });

  it('identify a reaction by its position and sign', () => {
    const history = [hello, react('+1'), react('-1', CYD), unreact('+1')];
    from(...history)
      .when(react('+1', CYD))
      .then({
        type: 'ReactionAdded',
        data: {
          messageId: 'm',
          channelId: CHANNEL,
          userId: CYD,
          place: 2,
          sign: 0,
          addedAt: NOON + 4,
          secret: { reaction: '+1' },
        },
      });
    from(...history)
      .when(unreact('-1', CYD))
      .then({
        type: 'ReactionRemoved',
        data: {
          messageId: 'm',
          channelId: CHANNEL,
          userId: CYD,
          place: 1,
          sign: 1,
          removedAt: NOON + 5,
          secret: { reaction: '-1' },
        },
      });
  });

  it('omit reactions from an edit event beyond a thousand', () => {
    const many = Array.from({ length: 1001 }, (_, index) => react('+1', `u${index}`));
    const reactionsAfter = (reactions: readonly MessageCommand[]) => {
      const { events } = run([hello, ...reactions, editMessage('hi')]);
      return (events.at(-1)!.data as { secret: { reactions: object | null } }).secret.reactions;
    };
    expect(reactionsAfter(many.slice(0, 1000)))
      .to.have.property('+1')
      .with.length(1000);
    expect(reactionsAfter(many)).to.equal(null);
    // Removed reactions do not count.
    expect(reactionsAfter([...many, unreact('+1', 'u7')]))
      .to.have.property('+1')
      .with.length(1000);
  });

  it('limit reactions per user, including removed ones', () => {
    const toggled = Array.from({ length: MAX_REACTIONS_EVER }, (_, index) => [
      react(`r${index}`),
      unreact(`r${index}`),
    ]);
    const { events, state } = run([hello, ...toggled.flat().slice(0, -1)]);
    expect(events).to.have.length(2 * MAX_REACTIONS_EVER);
    expect(message.decide(unreact(`r${MAX_REACTIONS_EVER - 1}`), state)).to.have.length(1);
    expect(message.decide(react('+1'), state)).to.include({ rejected: 'chat/too-many-reactions' });
    expect(message.decide(react('+1', CYD), state)).to.have.length(1);
  });

  it('limit edits and pins per user, including replies; unpinning and deleting remain possible', () => {
    const edits = Array.from({ length: MAX_CHANGES - 2 }, (_, index) => editMessage(`edit ${index}`));
    const reply = postReply('one', ADA, 'm.1');
    const { state } = run([hello, pin(ADA), unpin(), reply, editReply('m.1', 'two', ADA), ...edits, pin()]);
    for (const command of [editMessage('more'), editReply('m.1', 'three', ADA, 1)])
      expect(message.decide(command, state)).to.include({
        rejected: 'chat/too-many-changes-of-message',
        kind: 'invalid',
      });
    for (const command of [unpin(ADA), deleteReply('m.1', asUser(ADA)), deleteMessage()])
      expect(message.decide(command, state)).to.have.length(1);
    const unpinned = run([unpin()], run([hello, pin(ADA), unpin(), reply, ...edits, editMessage('x'), pin()]).events);
    expect(message.decide(pin(ADA), unpinned.state)).to.include({
      rejected: 'chat/too-many-changes-of-message',
    });
    expect(message.decide(pin(CYD), unpinned.state)).to.have.length(1);
  });

  it('free the memory of deleted replies', () => {
    const ids = Array.from({ length: 300 }, (_, index) => `m.${index}`);
    const posted = ids.map((id) => postReply(id, BOB, id));
    const { state } = run([hello, ...posted, ...ids.slice(1).map((id) => deleteReply(id, asUser(BOB)))]);
    expect(threadOf(state.replies)).to.include({ replyCount: 1, lastReplyBy: BOB });
    const { blocks, tail } = state.replies;
    expect([...blocks, ...tail].join('').split('\n')).to.have.length(2);
  });

  it('are unchanged by removing a reaction that does not exist', () => {
    const reactions = withReaction(noReactions, '+1', { userId: ADA, place: 0, sign: 0 });
    for (const [reaction, place] of [
      ['+1', 1],
      ['-1', 0],
    ] as const)
      expect(withoutReaction(reactions, reaction, { place })).to.equal(reactions);
    expect(withoutReaction(reactions, '+1', { place: 0 }).count).to.equal(0);
  });

  it('summarize the thread in each reply event, and after deletions', () => {
    const history = [hello, postReply('one', BOB, 'm.1', NOON + 6), postReply('two', CYD, 'm.2', NOON + 7)];
    const thread = {
      replyCount: 3,
      lastReplyAt: NOON + 8,
      lastReplyBy: BOB,
      participants: [BOB, CYD],
    };
    const third = postReply('three', BOB, 'm.3', NOON + 8);
    from(...history)
      .when(third)
      .then({
        type: 'ReplyPosted',
        data: {
          messageId: 'm',
          channelId: CHANNEL,
          replyId: 'm.3',
          author: BOB,
          createdAt: NOON + 8,
          quotedMessageId: null,
          thread,
          secret: saying('three'),
        },
      });
    const threads = [deleteReply('m.3'), deleteReply('m.1'), deleteReply('m.2', asUser(CYD))].map((_, index, all) =>
      threadOf(run([...history, third, ...all.slice(0, index + 1)]).state.replies),
    );
    expect(threads).to.deep.equal([
      { replyCount: 2, lastReplyAt: NOON + 7, lastReplyBy: CYD, participants: [BOB, CYD] },
      { replyCount: 1, lastReplyAt: NOON + 7, lastReplyBy: CYD, participants: [CYD] },
      null,
    ]);
  });

  it('let replies be edited by their author, and deleted by author or admin', () => {
    const history = from(hello, postReply('yes'));
    history.when(editReply('m.yes', 'no', ADA)).thenRejected('chat/not-the-author', { kind: 'forbidden' });
    history.when(deleteReply('m.yes', asUser(ADA))).thenRejected('chat/not-the-author');
    history.when(editReply('m.x', 'no')).thenRejected('chat/message-not-found', { kind: 'not-found' });
    history.when(deleteReply('m.x')).thenRejected('chat/message-not-found');
    expect(run([hello, postReply('yes'), deleteReply('m.yes', asAdmin(ADA))]).events).to.have.length(3);
    from(hello, postReply('yes'), deleteReply('m.yes'))
      .when(editReply('m.yes', 'no'))
      .thenRejected('chat/message-not-found');
  });

  it('do not change a reply edited to equal content, and reject an edit of outdated content', () => {
    const history = from(hello, postReply('yes'), postReply('no'));
    history.when(editReply('m.yes', 'yes')).thenNothing();
    from(hello, postReply('yes'), postReply('no'), editReply('m.no', 'never'))
      .when(editReply('m.yes', 'well'))
      .thenRejected('chat/reply-changed', { kind: 'conflict' });
  });

  it('never record an edit time before the creation or an earlier edit', () => {
    const edited = run([hello, { ...editMessage('earlier'), now: NOON - 1 }]).state;
    expect(edited.updatedAt).to.equal(edited.createdAt);
    const later = { ...editMessage('later'), now: NOON + 9 };
    expect(run([hello, later, { ...editMessage('earlier'), now: NOON + 1 }]).state.updatedAt).to.equal(NOON + 9);
    const { events } = run([hello, postReply('yes'), editReply('m.yes', 'no', BOB, 0, NOON)]);
    expect(events.at(-1)!.data).to.include({ createdAt: NOON + 6, editedAt: NOON + 6 });
  });

  it('name at most a hundred participants of a thread', () => {
    const many = Array.from({ length: 300 }, (_, index) => postReply(`r${index}`, `u${index}`));
    const thread = threadOf(run([hello, ...many]).state.replies)!;
    expect(thread).to.include({ replyCount: 300, lastReplyBy: 'u299' });
    expect(thread.participants).to.have.length(MAX_PARTICIPANTS);
  });

  const who = fc.constantFrom(ADA, BOB, CYD);
  const sign = fc.constantFrom('+1', '-1', '😀');
  const replyId = fc.nat(300).map((n) => `m.${n}`);
  const command: fc.Arbitrary<MessageCommand> = fc.oneof(
    fc.tuple(fc.constantFrom('a', 'b', 'c'), who).map(([text, by]) => editMessage(text, by)),
    who.map((by) => pin(by)),
    who.map((by) => unpin(by)),
    { weight: 3, arbitrary: fc.tuple(sign, who).map(([text, by]) => react(text, by)) },
    { weight: 2, arbitrary: fc.tuple(sign, who).map(([text, by]) => unreact(text, by)) },
    {
      weight: 5,
      arbitrary: fc
        .tuple(who, fc.nat(10))
        .map(([by, at]): MessageCommand => ({ ...postReply('yes', by, '', NOON + at) })),
    },
    { weight: 3, arbitrary: fc.tuple(replyId, who).map(([id, by]) => deleteReply(id, asUser(by))) },
    { weight: 1, arbitrary: fc.tuple(replyId, who).map(([id, by]) => editReply(id, 'no', by)) },
  );

  it('equal what the events describe, for any history', () => {
    const histories = fc.array(command, { maxLength: 300 });
    fc.assert(
      fc.property(histories, (commands) => {
        // Each reply has a unique id.
        const unique = commands.map((each, index) =>
          each.type === 'PostReply' ? { ...each, replyId: `m.${index}` } : each,
        );
        const { events, state } = run([hello, ...unique]);
        const users = new Map<string, string[]>();
        const replies = new Map<string, { author: string; at: number }>();
        const authorsInOrder: string[] = [];
        for (const { type, data } of events) {
          if (type === 'ReactionAdded')
            users.set(data.secret.reaction, [...(users.get(data.secret.reaction) ?? []), data.userId]);
          if (type === 'ReactionRemoved') {
            const remaining = users.get(data.secret.reaction)!.filter((each) => each !== data.userId);
            if (remaining.length > 0) users.set(data.secret.reaction, remaining);
            else users.delete(data.secret.reaction);
          }
          if (type === 'ReplyPosted') {
            replies.set(data.replyId, { author: data.author, at: data.createdAt });
            if (!authorsInOrder.includes(data.author)) authorsInOrder.push(data.author);
          }
          if (type === 'ReplyDeleted') replies.delete(data.replyId);
          if ('thread' in data && type.startsWith('Reply'))
            expect(data.thread, 'in the event').to.deep.equal(expected());
        }
        function expected() {
          const last = [...replies.values()].at(-1);
          if (!last) return null;
          const current = new Set([...replies.values()].map(({ author }) => author));
          return {
            replyCount: replies.size,
            lastReplyAt: last.at,
            lastReplyBy: last.author,
            participants: authorsInOrder.filter((each) => current.has(each)),
          };
        }
        expect(threadOf(state.replies)).to.deep.equal(expected());
        expect(reactionsOf(state.reactions)).to.deep.equal(Object.fromEntries(users));
      }),
      { numRuns: 60 },
    );
  });

  it('are unchanged by a repeated command, except for edit times of replies', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), command, (commands, last) => {
        if (last.type === 'PostReply' || last.type === 'EditReply') return;
        const { state } = run([hello, ...commands, last]);
        const again = message.decide(last, state);
        expect(isRejection(again) || again.length === 0).to.equal(true);
      }),
    );
  });
});
