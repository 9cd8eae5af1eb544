/** The state parameter of an OAuth sign-in can be used once. */
import { oauth } from '../../../domain/chat/oauth.js';
import { NOON } from '../../support/chat-user-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(oauth);
const spend = { type: 'SpendState', stateId: 'digest', provider: 'google', now: NOON } as const;
const returned = {
  type: 'OAuthReturned',
  data: { stateId: 'digest', provider: 'google', returnedAt: NOON },
} as const;

describe('the state of an OAuth sign-in', () => {
  it('can be used once', () => {
    given().when(spend).then(returned);
    given(returned).when(spend).thenRejected('chat/state-spent');
  });
});
