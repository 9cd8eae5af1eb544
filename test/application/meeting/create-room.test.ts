/** Making meeting rooms: what costs much is done for nobody who gets no room by it. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createRoomMetrics } from '../../../application/meeting/room-metrics.js';
import { createMeetingRooms } from '../../../application/meeting/rooms.js';
import { catalog, type RoomEvent } from '../../../domain/meeting/catalog.js';
import { applyEvents, initialState } from '../../../domain/meeting/state.js';
import { joined, left, opened } from '../../support/meeting-fixtures.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toy-service.js';

/** Where so many rooms stand empty, `mine` of them made from here. */
function house(latent: number, maxLatentRooms = 2, mine = 0, installation = randomBytes(32)) {
  const world = { ...memoryWorld(), installation };
  const kernel = memoryKernel(world, [catalog]);
  const census = createRoomMetrics([], 0n);
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
    roomMetrics: {
      ...census,
      emptyRooms: () => latent,
      emptyRoomsOf: (caller) => (caller === 'here' ? mine : 0),
    },
    clock: Date,
    maxLatentRooms,
    returnMs: 20_000,
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
  const make = (roomId: string | undefined, password: string | undefined, command: string, from = 'here') =>
    rooms.createRoom({ roomId, password }, from, { ...context(command), quota });
  return {
    rooms,
    census,
    world,
    installation,
    make,
    hashed,
    left: () => spent.reduce((all, each) => all + each, 0),
  };
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

describe('a meeting room that is made again', () => {
  it('with the same key is the same, and its password is not hashed again', async () => {
    for (const roomId of ['ABC234', undefined]) {
      const { rooms, hashed } = house(0);
      const make = () => rooms.createRoom({ roomId, password: 'mine' }, 'here', context('one', 'of the body'));
      const [first, again] = [await make(), await make()];
      expect(first).to.have.property('body');
      expect(again).to.deep.equal(first);
      expect(hashed).to.deep.equal(['mine']);
    }
  });

  it('is called otherwise where the name that was made for it is taken, and not where it was asked for', async () => {
    const { rooms, installation } = house(0);
    const made = async (of: typeof rooms, roomId: string | undefined, command: string) => {
      const outcome = await of.createRoom({ roomId }, 'here', context(command));
      return 'body' in outcome ? outcome.body.roomId : outcome.rejected;
    };
    const name = await made(rooms, undefined, 'one');
    const { rooms: others } = house(0, 2, 0, installation);
    expect(await made(others, name, 'two')).to.equal(name);
    expect(await made(others, name, 'three')).to.equal('meeting/room-exists');
    expect(await made(others, undefined, 'one'))
      .to.match(/^[A-Z0-9]{6}$/)
      .and.not.to.equal(name);
  });

  it('takes no place while it is made where another has its name, or it was made before', async () => {
    const { rooms, census } = house(0);
    const make = (command: string) => rooms.createRoom({ roomId: 'ABC234' }, 'here', context(command, 'of the body'));
    await make('one');
    expect(census.emptyRooms()).to.equal(1);
    census.update('ABC234', applyEvents(initialState, [opened({ caller: 'here' })]));
    await make('two');
    await make('one');
    expect(census.emptyRooms()).to.equal(1);
  });

  it('gives its place back where it could not be made', async () => {
    const { rooms, census, world } = house(0);
    const failed = new Error('no key can be made');
    world.keys.create = () => Promise.reject(failed);
    const making = rooms.createRoom({ roomId: 'ABC234' }, 'here', context('one'));
    expect(await making.catch((error: unknown) => error)).to.equal(failed);
    expect(census.emptyRooms()).to.equal(0);
  });
});

describe('the places of a meeting house', () => {
  it('are for one network only as far as others find one, once half of them are taken', async () => {
    const full = { rejected: 'meeting/house-full' };
    for (const password of [undefined, 'secret']) {
      const { make } = house(500, 1000, 100);
      expect(await make('MINE22', password, 'one')).to.include(full);
      expect(await make('THEIRS', password, 'two', 'there')).to.have.nested.property('body.roomId', 'THEIRS');
    }
    for (const [latent, most, mine] of [
      [499, 1000, 499],
      [999, 1000, 99],
      [9, 10, 9],
    ] as const)
      expect(await house(latent, most, mine).make('MINE22', undefined, 'one')).to.have.property('body');
  });

  it('are counted by network, for as long as rooms stand empty, also those that are just being made', () => {
    const made = (caller: string, ...more: readonly RoomEvent[]) =>
      applyEvents(initialState, [opened({ caller }), ...more]);
    const census = createRoomMetrics([['ABC234', made('here')]], 0n);
    const counts = () => [census.emptyRooms(), census.emptyRoomsOf('here'), census.emptyRoomsOf('there')];
    expect(counts()).to.deep.equal([1, 1, 0]);
    census.reserve('DEF234', 'here');
    census.reserve('FGH234', 'there');
    expect(counts()).to.deep.equal([3, 2, 1]);
    census.update('DEF234', made('here'));
    census.failed('FGH234');
    expect(counts()).to.deep.equal([2, 2, 0]);
    // Of a room of that name that is no more.
    census.reserve('GHJ234', 'there');
    census.update('GHJ234', undefined);
    expect(counts()).to.deep.equal([3, 2, 1]);
    census.failed('GHJ234');
    census.update('ABC234', made('here', joined('ada', true)));
    census.update('DEF234', undefined);
    expect(counts()).to.deep.equal([0, 0, 0]);
    census.update('ABC234', made('here', joined('ada', true), left('ada')));
    expect(counts()).to.deep.equal([1, 1, 0]);
  });
});
