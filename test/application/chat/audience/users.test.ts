/** What users receive about other users and about their direct messages. */
import { expect } from 'chai';
import { chatAudience } from '../../../../application/chat/audience/audience.js';
import type { RevealedEvent } from '../../../../application/ports/index.js';
import { routeEvent } from '../../../../application/subscription/audience.js';
import type { ChatEvent } from '../../../../domain/chat/catalog.js';
import { conversation } from '../../../../domain/chat/conversation.js';
import { message } from '../../../../domain/chat/message.js';
import type { PresenceEvent } from '../../../../domain/chat/presence.js';
import {
  ADA,
  BOB,
  DIRECT,
  deleteMessage,
  editMessage,
  postMessage,
  react,
  startConversation,
  unreact,
} from '../../../support/chat-fixtures.js';
import {
  added,
  admin,
  erased,
  left,
  NOON,
  removed,
  renamed,
  roleChanged,
} from '../../../support/chat-user-fixtures.js';
import { specOf } from '../../../support/decider-spec.js';
import { eventAt } from '../../../support/memory-ports.js';

const chat = chatAudience(() => null);

const PEOPLE = [admin('root'), added(ADA), added(BOB)];
const EVERYBODY = ['everybody'];

/** The deliveries for the last event, given the ones before it. */
function delivered(...events: readonly ChatEvent[]) {
  const recorded = events.map(
    ({ type, data }, index) => eventAt(BigInt(index + 1), type, data as never) as unknown as RevealedEvent,
  );
  const last = recorded.pop()!;
  const before = recorded.reduce((state, event) => routeEvent(chat, state, event).state, chat.initialState);
  return routeEvent(chat, before, last).deliveries.map(({ to, message: { type, payload } }) => ({
    to,
    type,
    payload,
  }));
}
const heading = (events: readonly ChatEvent[]) => delivered(...events).map(({ to, type }) => [type, to]);

describe('deliveries about users and direct messages', () => {
  const two = [ADA, BOB].map((each) => `user:${each}`);

  it('send a direct message to its two participants only and name them', () => {
    const { events } = specOf(message).run([
      postMessage('psst', { channelId: DIRECT }),
      editMessage('hush'),
      react('+1'),
      unreact('+1'),
      deleteMessage(),
    ]);
    const all = events.map((_, index) => delivered(...PEOPLE, ...events.slice(0, index + 1)));
    expect(all.map((each) => each.map(({ type }) => type))).to.deep.equal([
      ['NEW_DM_MESSAGE'],
      ['UPDATE_DM_MESSAGE'],
      ['NEW_REACTION'],
      ['DELETE_REACTION'],
      ['DELETE_DM_MESSAGE'],
    ]);
    for (const [{ to, payload }] of all as [(typeof all)[number][number]][]) {
      expect(to).to.have.members(two);
      expect(payload).to.deep.include({
        channelId: DIRECT,
        conversationId: DIRECT,
        participants: [ADA, BOB],
      });
    }
  });

  it('describe a new conversation to each participant by the other one', () => {
    const { events } = specOf(conversation).run([startConversation()]);
    const all = delivered(...PEOPLE, ...events);
    expect(all.map(({ to, payload }) => [to, (payload as { otherUser: { id: string } }).otherUser.id])).to.deep.equal([
      [[two[0]], BOB],
      [[two[1]], ADA],
    ]);
  });

  it('tell all users who joins, leaves, is removed or changes name or role', () => {
    for (const [event, type] of [
      [added('dan'), 'NEW_USER'],
      [renamed(BOB, 'Robert'), 'UPDATE_USER'],
      [roleChanged(BOB, true), 'UPDATE_USER'],
      [removed(BOB), 'REMOVE_USER'],
      [left(BOB), 'USER_EXIT'],
    ] as const)
      expect(heading([...PEOPLE, event])).to.deep.equal([[type, EVERYBODY]]);
    expect(heading([...PEOPLE, removed(BOB), erased(BOB)])).to.deep.equal([]);
  });

  it('report presence only when it changes, and not of removed users', () => {
    const changed = (status: string, former: string): PresenceEvent =>
      ({
        type: 'PresenceChanged',
        data: { userId: BOB, status, former, lastSeen: NOON },
      }) as unknown as PresenceEvent;
    expect(heading([...PEOPLE, changed('online', 'offline')])).to.deep.equal([['PRESENCE_UPDATE', EVERYBODY]]);
    expect(heading([...PEOPLE, changed('online', 'online')])).to.deep.equal([]);
    expect(heading([...PEOPLE, removed(BOB), changed('offline', 'online')])).to.deep.equal([]);
  });
});
