/** Users are listed in the order of joining, without former ones, for any order of the state. */
import { expect } from 'chai';
import { listUsers } from '../../../../application/chat/people/users.js';
import { roster, withUser } from '../../../../domain/chat/roster.js';

describe('the list of users', () => {
  it('is in the order of joining, without former users', async () => {
    let state = roster.initialState;
    for (let number = 0; number < 5000; number++) {
      const user = { id: `u${number}`, number, email: '', userName: `u${number}`, isAdmin: false, createdAt: number };
      state = withUser(state, { ...user, isRemoved: number % 10 === 0 });
    }
    const numbers = Array.from({ length: 5000 }, (_, number) => number).filter((number) => number % 10 > 0);
    expect((await listUsers(state)).map(({ id }) => id)).to.deep.equal(numbers.map((number) => `u${number}`));
  });
});
