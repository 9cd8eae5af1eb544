/** Rules of reactions, edits and pins of a message. */
import { expect } from 'chai';
import fc from 'fast-check';
import { MAX_CHANGES, type MessageCommand, message } from '../../../domain/chat/message.js';
import {
  MAX_REACTIONS,
  noReactions,
  reactionsOf,
  withoutReaction,
  withReaction,
} from '../../../domain/chat/reactions.js';
import { isRejection } from '../../../domain/shared/decider.js';
import {
  ADA,
  BOB,
  CHANNEL,
  CYD,
  deleteMessage,
  editMessage,
  NOON,
  pin,
  postMessage,
  react,
  unpin,
  unreact,
} from '../../support/chat-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, run } = specOf(message);
const from = (...commands: readonly MessageCommand[]) => given(...run(commands).events);
const hello = postMessage('hello');

describe('reactions and changes of a message', () => {
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

  it('limit present reactions per user', () => {
    const { state } = run([hello, ...Array.from({ length: MAX_REACTIONS }, (_, index) => react(`r${index}`))]);
    expect(message.decide(react('+1'), state)).to.include({ rejected: 'chat/too-many-reactions' });
    expect(message.decide(react('+1', CYD), state)).to.have.length(1);
    expect(run([unreact('r1'), react('+1')], run([hello, react('r1')]).events).events.at(-1)!.type).to.equal(
      'ReactionAdded',
    );
  });

  it('limit edits, pins and reactions per user; unpinning, removing and deleting remain possible', () => {
    const edits = Array.from({ length: MAX_CHANGES - 2 }, (_, index) => editMessage(`edit ${index}`));
    const history = run([hello, pin(ADA), unpin(), ...edits, react('-1', ADA), pin()]);
    for (const command of [editMessage('more'), react('+1', ADA)])
      expect(message.decide(command, history.state)).to.include({
        rejected: 'chat/too-many-changes-of-message',
        kind: 'invalid',
      });
    for (const command of [unpin(ADA), unreact('-1', ADA), deleteMessage()])
      expect(message.decide(command, history.state)).to.have.length(1);
    const unpinned = run([unpin()], history.events);
    expect(message.decide(pin(ADA), unpinned.state)).to.include({ rejected: 'chat/too-many-changes-of-message' });
    expect(message.decide(pin(CYD), unpinned.state)).to.have.length(1);
  });

  it('are those of a reply, too, which cannot be pinned', () => {
    const reply = postMessage('yes', { messageId: 'm.r' });
    const onReply = (command: MessageCommand) => ({ ...command, messageId: 'm.r' });
    const { state } = run([reply, onReply(react('+1')), onReply(editMessage('no'))]);
    expect(state.body.content).to.equal('no');
    expect(reactionsOf(state.reactions)).to.deep.equal({ '+1': [BOB] });
    from(reply).when(onReply(pin())).thenRejected('chat/reply-not-pinned', { kind: 'invalid' });
  });

  it('are unchanged by removing a reaction that does not exist', () => {
    const reactions = withReaction(noReactions, '+1', { userId: ADA, place: 0, sign: 0 });
    for (const [reaction, userId] of [
      ['+1', BOB],
      ['-1', ADA],
    ] as const)
      expect(withoutReaction(reactions, reaction, userId)).to.equal(reactions);
    expect(withoutReaction(reactions, '+1', ADA).present.size).to.equal(0);
  });

  it('never record an edit time before the creation or an earlier edit', () => {
    const edited = run([hello, { ...editMessage('earlier'), now: NOON - 1 }]).state;
    expect(edited.updatedAt).to.equal(edited.createdAt);
    const later = { ...editMessage('later'), now: NOON + 9 };
    expect(run([hello, later, { ...editMessage('earlier'), now: NOON + 1 }]).state.updatedAt).to.equal(NOON + 9);
  });

  const who = fc.constantFrom(ADA, BOB, CYD);
  const sign = fc.constantFrom('+1', '-1', '😀');
  const command: fc.Arbitrary<MessageCommand> = fc.oneof(
    fc.tuple(fc.constantFrom('a', 'b', 'c'), who).map(([text, by]) => editMessage(text, by)),
    who.map((by) => pin(by)),
    who.map((by) => unpin(by)),
    { weight: 3, arbitrary: fc.tuple(sign, who).map(([text, by]) => react(text, by)) },
    { weight: 2, arbitrary: fc.tuple(sign, who).map(([text, by]) => unreact(text, by)) },
  );

  it('equal what the events describe, for any history', () => {
    const histories = fc.array(command, { maxLength: 300 });
    fc.assert(
      fc.property(histories, (commands) => {
        const { events, state } = run([hello, ...commands]);
        const users = new Map<string, string[]>();
        for (const { type, data } of events) {
          if (type === 'ReactionAdded')
            users.set(data.secret.reaction, [...(users.get(data.secret.reaction) ?? []), data.userId]);
          if (type === 'ReactionRemoved') {
            const remaining = users.get(data.secret.reaction)!.filter((each) => each !== data.userId);
            if (remaining.length > 0) users.set(data.secret.reaction, remaining);
            else users.delete(data.secret.reaction);
          }
        }
        expect(reactionsOf(state.reactions)).to.deep.equal(Object.fromEntries(users));
      }),
      { numRuns: 60 },
    );
  });

  it('are unchanged by a repeated command', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), command, (commands, last) => {
        const { state } = run([hello, ...commands, last]);
        const again = message.decide(last, state);
        expect(isRejection(again) || again.length === 0).to.equal(true);
      }),
    );
  });
});
