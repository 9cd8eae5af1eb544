/** Creation of meeting rooms: nothing expensive is done for a request that fails, and empty rooms are limited. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createRoomMetrics } from '../../../application/meeting/room-metrics.js';
import { createMeetingRooms } from '../../../application/meeting/rooms.js';
import { catalog, type RoomEvent } from '../../../domain/meeting/catalog.js';
import { applyEvents, initialState } from '../../../domain/meeting/state.js';
import { joined, left, opened } from '../../support/meeting-fixtures.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toy-service.js';

/** A node with `latent` empty rooms, `own` of them created by the caller `here`. */
function nodeWith(latent: number, maxLatentRooms = 2, own = 0, installation = randomBytes(32)) {
  const world = { ...memoryWorld(), installation };
  const kernel = memoryKernel(world, [catalog]);
  const metrics = createRoomMetrics([], 0n);
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
      ...metrics,
      emptyRooms: () => latent,
      emptyRoomsOf: (caller) => (caller === 'here' ? own : 0),
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
    metrics,
    world,
    installation,
    make,
    hashed,
    netSpent: () => spent.reduce((all, each) => all + each, 0),
  };
}

describe('the password of a meeting room that cannot be created', () => {
  it('is not hashed if the room exists, and costs no quota', async () => {
    const { make, hashed, netSpent } = nodeWith(0);
    expect(await make('TAKEN2', 'mine', 'one')).to.have.nested.property('body.roomId', 'TAKEN2');
    expect(netSpent()).to.equal(1);
    expect(await make('TAKEN2', 'yours', 'two')).to.include({ rejected: 'meeting/room-exists' });
    expect(hashed).to.deep.equal(['mine']);
    expect(netSpent()).to.equal(1);
  });

  it('is not hashed if too many rooms are empty, and costs no quota', async () => {
    const { make, hashed, netSpent } = nodeWith(2);
    expect(await make(undefined, 'mine', 'one')).to.include({ rejected: 'meeting/house-full' });
    expect(hashed).to.deep.equal([]);
    expect(netSpent()).to.equal(0);
  });
});

describe('a repeated creation of a meeting room', () => {
  it('returns the same room for the same key without hashing its password again', async () => {
    for (const roomId of ['ABC234', undefined]) {
      const { rooms, hashed } = nodeWith(0);
      const make = () => rooms.createRoom({ roomId, password: 'mine' }, 'here', context('one', 'of the body'));
      const [first, again] = [await make(), await make()];
      expect(first).to.have.property('body');
      expect(again).to.deep.equal(first);
      expect(hashed).to.deep.equal(['mine']);
    }
  });

  it('gets another generated id if the first is taken, and fails if the id was given', async () => {
    const { rooms, installation } = nodeWith(0);
    const made = async (of: typeof rooms, roomId: string | undefined, command: string) => {
      const outcome = await of.createRoom({ roomId }, 'here', context(command));
      return 'body' in outcome ? outcome.body.roomId : outcome.rejected;
    };
    const name = await made(rooms, undefined, 'one');
    const { rooms: others } = nodeWith(0, 2, 0, installation);
    expect(await made(others, name, 'two')).to.equal(name);
    expect(await made(others, name, 'three')).to.equal('meeting/room-exists');
    expect(await made(others, undefined, 'one'))
      .to.match(/^[A-Z0-9]{6}$/)
      .and.not.to.equal(name);
  });

  it('reserves no place if the room exists or the command is repeated', async () => {
    const { rooms, metrics } = nodeWith(0);
    const make = (command: string) => rooms.createRoom({ roomId: 'ABC234' }, 'here', context(command, 'of the body'));
    await make('one');
    expect(metrics.emptyRooms()).to.equal(1);
    metrics.update('ABC234', applyEvents(initialState, [opened({ caller: 'here' })]));
    await make('two');
    await make('one');
    expect(metrics.emptyRooms()).to.equal(1);
  });

  it('releases its place after a failure', async () => {
    const { rooms, metrics, world } = nodeWith(0);
    const failed = new Error('no key can be made');
    world.keys.create = () => Promise.reject(failed);
    const making = rooms.createRoom({ roomId: 'ABC234' }, 'here', context('one'));
    expect(await making.catch((error: unknown) => error)).to.equal(failed);
    expect(metrics.emptyRooms()).to.equal(0);
  });
});

describe('the limit of empty meeting rooms', () => {
  it('leaves room for other networks once half of it is used', async () => {
    const full = { rejected: 'meeting/house-full' };
    for (const password of [undefined, 'secret']) {
      const { make } = nodeWith(500, 1000, 100);
      expect(await make('MINE22', password, 'one')).to.include(full);
      expect(await make('THEIRS', password, 'two', 'there')).to.have.nested.property('body.roomId', 'THEIRS');
    }
    for (const [latent, maxLatent, own] of [
      [499, 1000, 499],
      [999, 1000, 99],
      [9, 10, 9],
    ] as const)
      expect(await nodeWith(latent, maxLatent, own).make('MINE22', undefined, 'one')).to.have.property('body');
  });

  it('counts empty rooms per network, including rooms being created', () => {
    const made = (caller: string, ...more: readonly RoomEvent[]) =>
      applyEvents(initialState, [opened({ caller }), ...more]);
    const metrics = createRoomMetrics([['ABC234', made('here')]], 0n);
    const counts = () => [metrics.emptyRooms(), metrics.emptyRoomsOf('here'), metrics.emptyRoomsOf('there')];
    expect(counts()).to.deep.equal([1, 1, 0]);
    metrics.reserve('DEF234', 'here');
    metrics.reserve('FGH234', 'there');
    expect(counts()).to.deep.equal([3, 2, 1]);
    metrics.update('DEF234', made('here'));
    metrics.failed('FGH234');
    expect(counts()).to.deep.equal([2, 2, 0]);
    // For a room of that name that has ended.
    metrics.reserve('GHJ234', 'there');
    metrics.update('GHJ234', undefined);
    expect(counts()).to.deep.equal([3, 2, 1]);
    metrics.failed('GHJ234');
    metrics.update('ABC234', made('here', joined('ada', true)));
    metrics.update('DEF234', undefined);
    expect(counts()).to.deep.equal([0, 0, 0]);
    metrics.update('ABC234', made('here', joined('ada', true), left('ada')));
    expect(counts()).to.deep.equal([1, 1, 0]);
  });
});
