/** Message rules: authorship, life cycle and reactions. */
import { expect } from 'chai';
import { EMPTY_CONTENT } from '../../../domain/chat/events/messages.js';
import { type MessageCommand, message } from '../../../domain/chat/message.js';
import {
  ADA,
  asAdmin,
  asUser,
  BOB,
  CHANNEL,
  DIRECT,
  deleteMessage,
  editMessage,
  NOON,
  POSTED,
  pin,
  postMessage,
  react,
  unpin,
  unreact,
  withContent,
} from '../../support/chat-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, run } = specOf(message);
const from = (...commands: readonly MessageCommand[]) => given(...run(commands).events);
const hello = postMessage('hello');
const attachment = { filename: '1-a.txt', originalName: 'a.txt', contentType: 'text/plain', size: 1 };

describe('a message', () => {
  it('is posted with its content', () => {
    given()
      .when({ ...hello, quotedMessageId: 'q' })
      .then({
        type: 'MessagePosted',
        data: {
          messageId: 'm',
          channelId: CHANNEL,
          author: ADA,
          createdAt: NOON,
          quotedMessageId: 'q',
          secret: withContent('hello'),
        },
      });
  });

  it('must have text, an attachment or an image', () => {
    given().when(postMessage(' \n\u200b\u2800')).thenRejected('chat/empty-message', { kind: 'invalid' });
    from(hello).when(editMessage('  ')).thenRejected('chat/empty-message', { kind: 'invalid' });
    for (const body of [
      { ...EMPTY_CONTENT, attachments: [attachment] },
      { ...EMPTY_CONTENT, images: ['1-a.png'] },
    ])
      expect(run([{ ...hello, body }]).events).to.have.length(1);
  });

  it('can be edited by its author only, not even by admins', () => {
    from(hello).when(editMessage('hi', BOB)).thenRejected('chat/not-the-author', { kind: 'forbidden' });
    const { state } = run([hello, editMessage('hi')]);
    expect(state).to.deep.include({ body: withContent('hi'), updatedAt: NOON + 1, createdAt: NOON });
  });

  it('repeats its whole state when edited, pinned or unpinned', () => {
    const history = [hello, react('+1'), pin()];
    const whole = {
      messageId: 'm',
      channelId: CHANNEL,
      author: ADA,
      createdAt: NOON,
      quotedMessageId: null,
    };
    const reactions = { '+1': [BOB] };
    from(...history)
      .when(editMessage('hi'))
      .then({
        type: 'MessageEdited',
        data: {
          ...whole,
          updatedAt: NOON + 1,
          pinnedAt: NOON + 2,
          by: ADA,
          secret: { ...withContent('hi'), reactions },
        },
      });
    from(...history)
      .when(unpin())
      .then({
        type: 'MessageUnpinned',
        data: {
          ...whole,
          updatedAt: null,
          pinnedAt: null,
          by: BOB,
          unpinnedAt: NOON + 3,
          secret: { ...withContent('hello'), reactions },
        },
      });
  });

  it('does not change when edited to equal content', () => {
    from(hello).when(editMessage('hello')).thenNothing();
  });

  it('can be deleted by its author or an admin', () => {
    from(hello)
      .when(deleteMessage(asUser(BOB)))
      .thenRejected('chat/not-the-author', { kind: 'forbidden' });
    for (const by of [asUser(ADA), asAdmin(BOB)])
      from(hello)
        .when(deleteMessage(by))
        .then({
          type: 'MessageDeleted',
          data: {
            messageId: 'm',
            channelId: CHANNEL,
            author: ADA,
            by: by.userId,
            deletedAt: NOON + 9,
            postedPosition: POSTED,
          },
        });
  });

  it('limits a user to fifty different reactions', () => {
    const many = Array.from({ length: 50 }, (_, index) => react(`r${index}`));
    const { events } = run([hello, ...many]);
    expect(events).to.have.length(51);
    given(...events)
      .when(react('r50'))
      .thenRejected('chat/too-many-reactions', { kind: 'invalid' });
    given(...events)
      .when(react('r7'))
      .thenNothing();
    const others = react('r50', ADA);
    expect(run([others, unreact('r0'), react('r50')], events).events).to.have.length(54);
  });

  it('is not found before it is posted or after it is deleted', () => {
    const commands = [editMessage('hi'), deleteMessage(), pin(), unpin(), react('+1'), unreact('+1')];
    for (const command of commands) {
      given().when(command).thenRejected('chat/message-not-found', { kind: 'not-found' });
      from(hello, react('+1'), deleteMessage())
        .when(command)
        .thenRejected('chat/message-not-found', { kind: 'not-found' });
    }
    from(hello, deleteMessage()).when(hello).thenRejected('chat/message-not-found', { kind: 'not-found' });
  });

  it('is pinned once and keeps its pin time', () => {
    from(hello, pin())
      .when(pin(ADA, NOON + 99))
      .thenNothing();
    expect(run([hello, pin(), pin(ADA, NOON + 99)]).state.pinnedAt).to.equal(NOON + 2);
    from(hello).when(unpin()).thenNothing();
    from(hello, pin(), unpin()).when(unpin()).thenNothing();
  });

  it('in a direct conversation cannot be pinned', () => {
    const direct = { ...hello, channelId: DIRECT };
    for (const command of [pin(), unpin()])
      from(direct).when(command).thenRejected('chat/not-in-direct-messages', { kind: 'invalid' });
    expect(run([direct, react('+1'), editMessage('hi'), deleteMessage()]).events).to.have.length(4);
  });
});
