/** Occupancy of meeting rooms, current and peak. */
import { expect } from 'chai';
import { createRoomMetrics } from '../../../application/meeting/room-metrics.js';
import { initialState, type Person, type RoomState } from '../../../domain/meeting/state.js';

const roomOf = (count: number): RoomState => ({
  ...initialState,
  isOpen: true,
  people: Array.from({ length: count }, (_, id) => ({ id: String(id) }) as Person),
});

describe('the occupancy metrics of meetings', () => {
  it('report the peak since the node started, ignoring replayed events', () => {
    const metrics = createRoomMetrics([['ABC234', roomOf(2)]], 3n, 10n);
    const update = (count: number, position: bigint) => {
      metrics.update('ABC234', roomOf(count));
      metrics.advance(position);
    };
    update(7, 5n);
    update(1, 9n);
    expect(metrics.totals()).to.deep.equal({ rooms: 1, people: 1, peak: 1 });
    update(4, 11n);
    update(0, 12n);
    expect(metrics.totals()).to.deep.equal({ rooms: 1, people: 0, peak: 4 });
  });
});
