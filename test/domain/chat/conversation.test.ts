/** The rules of conversations of two. */
import { expect } from 'chai';
import { conversation } from '../../../domain/chat/conversation.js';
import { conversationOf, isDirect, participantsOf } from '../../../domain/chat/events/conversations.js';
import { ADA, BOB, CYD, DIRECT, NOON, startConversation } from '../../support/chat-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, run } = specOf(conversation);

describe('a conversation', () => {
  it('is the same whoever of the two begins it', () => {
    expect(conversationOf(BOB, ADA)).to.equal(DIRECT);
    expect(participantsOf(DIRECT)).to.deep.equal([ADA, BOB]);
    expect(isDirect(DIRECT)).to.equal(true);
    expect(isDirect('general')).to.equal(false);
  });

  it('is of nobody whose ids are not sorted, or the same', () => {
    expect(participantsOf(`dm:${BOB}_${ADA}`)).to.equal(undefined);
    expect(participantsOf(conversationOf(ADA, ADA))).to.equal(undefined);
    expect(participantsOf('dm:ada_bob')).to.equal(undefined);
  });

  it('is begun once, by one of the two', () => {
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
