/** The state of a sign-in by way of a provider comes back once. */
import { oauth } from '../../../domain/chat/oauth.js';
import { NOON } from '../../support/chat-user-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(oauth);
const spend = { type: 'SpendState', stateId: 'digest', provider: 'google', now: NOON } as const;
const returned = {
  type: 'OAuthReturned',
  data: { stateId: 'digest', provider: 'google', returnedAt: NOON },
} as const;

describe('the state of a sign-in by way of a provider', () => {
  it('comes back once', () => {
    given().when(spend).then(returned);
    given(returned).when(spend).thenRejected('chat/state-spent');
  });
});
