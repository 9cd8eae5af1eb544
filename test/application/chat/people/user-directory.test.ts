/** Everybody in the order in which they came, whatever has been done since they were listed last. */
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

/** As it is said in one line. */
const sorted = ({ users }: RosterState) =>
  [...users.values()]
    .filter(({ isGone }) => !isGone)
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    .map(userView);

describe('everybody', () => {
  it('stands in the order in which they came, by whatever state they are listed next', async () => {
    const change = fc.tuple(fc.nat(40), fc.nat(5), fc.boolean());
    const property = fc.asyncProperty(fc.array(fc.array(change, { maxLength: 10 })), async (rounds) => {
      const everybody = createUserDirectory();
      let state = roster.initialState;
      const states = [state];
      const came = new Map<number, number>();
      for (const round of rounds) {
        for (const [id, at, isGone] of round) {
          came.set(id, came.get(id) ?? at);
          state = withUser(state, user(`u${id}`, came.get(id)!, isGone));
        }
        states.push(state);
        expect(await everybody(state)).to.deep.equal(sorted(state));
      }
      for (const earlier of states) expect(await everybody(earlier)).to.deep.equal(sorted(earlier));
    });
    await fc.assert(property);
  });

  it('is in order however many there are, and listed once for all who ask', async () => {
    let state = roster.initialState;
    for (let n = 0; n < 5000; n++) state = withUser(state, user(`u${n}`, (n * 7919) % 1009, n % 10 === 0));
    const everybody = createUserDirectory();
    const [one, other] = await Promise.all([everybody(state), everybody(state)]);
    expect(one).to.equal(other);
    expect(one).to.deep.equal(sorted(state));
  });
});
