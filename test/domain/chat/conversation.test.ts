/** Direct conversations between two users. */
import { expect } from 'chai';
import { conversation } from '../../../domain/chat/conversation.js';
import { conversationOf, isDirect, participantsOf } from '../../../domain/chat/events/channels.js';
import { ADA, BOB, CYD, DIRECT, NOON, startConversation } from '../../support/chat-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, run } = specOf(conversation);

describe('a conversation', () => {
  it('has the same id in either order of its participants', () => {
    expect(conversationOf(BOB, ADA)).to.equal(DIRECT);
    expect(participantsOf(DIRECT)).to.deep.equal([ADA, BOB]);
    expect(isDirect(DIRECT)).to.equal(true);
    expect(isDirect('general')).to.equal(false);
  });

  it('has no participants if its ids are unsorted, equal or invalid', () => {
    expect(participantsOf(`dm:${BOB}_${ADA}`)).to.equal(undefined);
    expect(participantsOf(conversationOf(ADA, ADA))).to.equal(undefined);
    expect(participantsOf('dm:ada_bob')).to.equal(undefined);
  });

  it('is started once, by one of its participants', () => {
    given()
      .when(startConversation(BOB))
      .then({
        type: 'ConversationStarted',
        data: { conversationId: DIRECT, participants: [ADA, BOB], by: BOB, startedAt: NOON },
      });
    given(...run([startConversation(BOB)]).events)
      .when(startConversation(ADA))
      .thenNothing();
    given().when(startConversation(CYD)).thenRejected('chat/conversation-not-found', { kind: 'not-found' });
  });
});
