/** Making meeting rooms: what costs much is done for nobody who gets no room by it. */
import { expect } from 'chai';
import { createMeetingRooms } from '../../../application/meeting/rooms.js';
import { catalog } from '../../../domain/meeting/catalog.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toys.js';

function house(latent: number) {
  const kernel = memoryKernel(memoryWorld(), [catalog]);
  const hashed: string[] = [];
  const spent: number[] = [];
  const rooms = createMeetingRooms({
    ...kernel,
    passwords: {
      async hash(password) {
        hashed.push(password);
        return 'salt.hash';
      },
    },
    census: { latent: () => latent, expect: () => {}, failed: () => {} },
    clock: Date,
    maxLatentRooms: 2,
  });
  const quota = {
    async spend() {
      spent.push(1);
      return undefined;
    },
    async refund() {
      spent.push(-1);
    },
  };
  const make = (roomId: string | undefined, password: string, command: string) =>
    rooms.make({ roomId, password }, 'here', { ...context(command), quota });
  return { make, hashed, left: () => spent.reduce((all, each) => all + each, 0) };
}

describe('the password of a meeting room that can not be made', () => {
  it('is not hashed where there is such a room, and costs nothing', async () => {
    const { make, hashed, left } = house(0);
    expect(await make('TAKEN2', 'mine', 'one')).to.have.nested.property('body.roomId', 'TAKEN2');
    expect(left()).to.equal(1);
    expect(await make('TAKEN2', 'yours', 'two')).to.include({ rejected: 'meeting/room-exists' });
    expect(hashed).to.deep.equal(['mine']);
    expect(left()).to.equal(1);
  });

  it('is not hashed where too many stand empty, and costs nothing', async () => {
    const { make, hashed, left } = house(2);
    expect(await make(undefined, 'mine', 'one')).to.include({ rejected: 'meeting/house-full' });
    expect(hashed).to.deep.equal([]);
    expect(left()).to.equal(0);
  });
});
