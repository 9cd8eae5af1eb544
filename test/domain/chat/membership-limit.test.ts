/** The limit of members over all channels: no user can exhaust it for others. */
import { expect } from 'chai';
import { type Counts, countMembers, exceedsMemberLimit, MAX_MEMBERS, noCounts } from '../../../domain/chat/limits.js';

const [ADA, BOB] = ['ada', 'bob'];
const channel = (createdBy: string, count: number) => ({
  createdBy,
  members: Array.from({ length: count }, () => createdBy),
});
/** Counts as if channels of these totals existed; each channel counts as 40 extra members. */
const memberships = (of: Readonly<Record<string, number>>): Counts =>
  Object.entries({ ...of, all: Object.values(of).reduce((sum, each) => sum + each, 0) }).reduce(
    (counts, [name, each]) => counts.set(name, each),
    noCounts,
  );
const isFull = (of: Readonly<Record<string, number>>, count: number, isAdmin = false) =>
  exceedsMemberLimit(memberships(of), undefined, channel(ADA, count), isAdmin);

describe('the members of all channels', () => {
  it('are counted by channel creator, with 40 extra per channel', () => {
    const [one, larger] = [channel(ADA, 3), channel(ADA, 5)];
    let counts = countMembers(countMembers(noCounts, undefined, one), undefined, channel(BOB, 1));
    expect([counts.get('all'), counts.get(ADA), counts.get(BOB)]).to.deep.equal([84, 43, 41]);
    counts = countMembers(counts, one, larger);
    expect([counts.get('all'), counts.get(ADA)]).to.deep.equal([86, 45]);
    counts = countMembers(counts, larger, undefined);
    expect([counts.get('all'), counts.has(ADA)]).to.deep.equal([41, false]);
  });

  it('leave ten times the places of one user for others', () => {
    expect(isFull({ ada: 90_000 }, 860)).to.equal(false);
    expect(isFull({ ada: 90_000 }, 990)).to.equal(true);
    expect(isFull({ bob: 990_000 }, 860)).to.equal(false);
    expect(isFull({ bob: 990_000 }, 990)).to.equal(true);
  });

  it('may use all places in channels of admins', () => {
    expect(isFull({ ada: 990_000 }, 9960, true)).to.equal(false);
    expect(isFull({ ada: 990_000 }, 9961, true)).to.equal(true);
  });

  it('may always be reduced', () => {
    const [was, is] = [channel(ADA, 3), channel(ADA, 2)];
    const over = memberships({ ada: 2 * MAX_MEMBERS });
    expect(exceedsMemberLimit(over, was, is, false)).to.equal(false);
    expect(exceedsMemberLimit(over, was, was, false)).to.equal(false);
  });
});
