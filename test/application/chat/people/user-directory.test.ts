/** The user directory lists users in order of joining, for newer and older states. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createUserDirectory, userView } from '../../../../application/chat/people/user-directory.js';
import { type RosterState, roster, type User, withUser } from '../../../../domain/chat/roster.js';

const user = (id: string, createdAt: number, isGone: boolean): User => ({
  id,
  email: `${id}@example.org`,
  userName: id,
  isAdmin: false,
  createdAt,
  isGone,
});

/** The reference implementation. */
const sorted = ({ users }: RosterState) =>
  [...users.values()]
    .filter(({ isGone }) => !isGone)
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    .map(userView);

describe('the user directory', () => {
  it('lists users in order of joining, for any sequence of states', async () => {
    const change = fc.tuple(fc.nat(40), fc.nat(5), fc.boolean());
    const property = fc.asyncProperty(fc.array(fc.array(change, { maxLength: 10 })), async (rounds) => {
      const listUsers = createUserDirectory();
      let state = roster.initialState;
      const states = [state];
      const joinedAt = new Map<number, number>();
      for (const round of rounds) {
        for (const [id, at, isGone] of round) {
          joinedAt.set(id, joinedAt.get(id) ?? at);
          state = withUser(state, user(`u${id}`, joinedAt.get(id)!, isGone));
        }
        states.push(state);
        expect(await listUsers(state)).to.deep.equal(sorted(state));
      }
      for (const earlier of states) expect(await listUsers(earlier)).to.deep.equal(sorted(earlier));
    });
    await fc.assert(property);
  });

  it('orders thousands of users, and computes a list once for concurrent callers', async () => {
    let state = roster.initialState;
    for (let n = 0; n < 5000; n++) state = withUser(state, user(`u${n}`, (n * 7919) % 1009, n % 10 === 0));
    const listUsers = createUserDirectory();
    const [one, other] = await Promise.all([listUsers(state), listUsers(state)]);
    expect(one).to.equal(other);
    expect(one).to.deep.equal(sorted(state));
  });
});
