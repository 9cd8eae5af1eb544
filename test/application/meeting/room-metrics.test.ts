/** How many people there are in meetings, and were at a time. */
import { expect } from 'chai';
import { createRoomMetrics } from '../../../application/meeting/room-metrics.js';
import { initialState, type Person, type RoomState } from '../../../domain/meeting/state.js';

const roomOf = (count: number): RoomState => ({
  ...initialState,
  isOpen: true,
  people: Array.from({ length: count }, (_, id) => ({ id: String(id) }) as Person),
});

describe('the census of the meetings', () => {
  it('knows the most people at a time since the node began, and not from what it hears of the time before', () => {
    const census = createRoomMetrics([['ABC234', roomOf(2)]], 3n, 10n);
    const see = (count: number, position: bigint) => {
      census.update('ABC234', roomOf(count));
      census.advance(position);
    };
    see(7, 5n);
    see(1, 9n);
    expect(census.totals()).to.deep.equal({ rooms: 1, people: 1, peak: 1 });
    see(4, 11n);
    see(0, 12n);
    expect(census.totals()).to.deep.equal({ rooms: 1, people: 0, peak: 4 });
  });
});
