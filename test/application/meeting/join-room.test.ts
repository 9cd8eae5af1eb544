/** Joining a room that is not open: concurrent hosts, and requests for missing rooms. */
import { expect } from 'chai';
import { createAggregateStore } from '../../../application/command/aggregate-store.js';
import { roomAggregate } from '../../../application/meeting/aggregates.js';
import { createRoomEntry, type JoinRequest } from '../../../application/meeting/join-room.js';
import { catalog, meetingSubject } from '../../../domain/meeting/catalog.js';
import { roomStream } from '../../../domain/meeting/state.js';
import { commandsOf, memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toy-service.js';

const roomId = 'ABC234';

function installation() {
  const world = memoryWorld();
  const made = new Set<string>();
  const dropped = new Set<string>();
  const keys = {
    ...world.keys,
    create(subject: string, fresh: Buffer) {
      made.add(subject);
      return world.keys.create(subject, fresh);
    },
    destroy(subject: string) {
      dropped.add(subject);
      return world.keys.destroy(subject);
    },
  };
  const passwords = {
    hash: async (password: string) => `hash of ${password}`,
    matches: async (password: string, form: string) => form === `hash of ${password}`,
  };
  function node(run: string) {
    const kernel = memoryKernel({ ...world, keys }, [catalog]);
    let reads = 0;
    const log: typeof kernel.log = {
      ...kernel.log,
      read(...args) {
        reads++;
        return kernel.log.read(...args);
      },
    };
    const aggregates = createAggregateStore(log, kernel.decryptEvent);
    const { handle } = commandsOf({ ...kernel, log, aggregates });
    // The live feed has delivered no room.
    const rooms = () => new Map();
    const { enter } = createRoomEntry({
      ...kernel,
      handle,
      aggregates,
      clock: Date,
      rooms,
      run,
      passwords,
      returnMs: 20_000,
    });
    const take = (participantId: string) => ({ id: participantId, leave() {} });
    const join = (name: string, request: Partial<JoinRequest>) =>
      enter({ roomId, name, caller: 'x', ...request }, take, context());
    const host = (name: string) => join(name, { isHost: true });
    const meeting = async () => (await kernel.aggregates.reload(roomAggregate, roomStream(roomId))).state;
    return { join, host, meeting, reads: () => reads };
  }
  return { node, made, dropped };
}

describe('a request for a missing room', () => {
  it('costs one read of the log', async () => {
    const { join, reads } = installation().node('here');
    expect(await join('Eve', {})).to.include({ rejected: 'meeting/room-not-found' });
    expect(reads()).to.equal(1);
  });
});

describe('concurrent hosts of a room', () => {
  it('create one key and join one meeting', async () => {
    const { node, made, dropped } = installation();
    const { host, meeting } = node('here');
    await Promise.all(['Ada', 'Bob', 'Cleo', 'Dan'].map(host));
    const { people, meetingId } = await meeting();
    expect(people).to.have.lengthOf(4);
    expect([...made]).to.deep.equal([meetingSubject({ meetingId })]);
    expect(dropped).to.have.lengthOf(0);
  });

  it('leave only the key of the meeting when they join on two nodes', async () => {
    const { node, made, dropped } = installation();
    const [north, south] = [node('north'), node('south')];
    await Promise.all([north.host('Ada'), south.host('Bob')]);
    const { people, meetingId } = await north.meeting();
    expect(people).to.have.lengthOf(2);
    expect(made, 'each node created a key').to.have.lengthOf(2);
    const remaining = [...made].filter((subject) => !dropped.has(subject));
    expect(remaining).to.deep.equal([meetingSubject({ meetingId })]);
  });

  it('join a room opened on another node before the live feed delivers it', async () => {
    const { node, made } = installation();
    const [north, south] = [node('north'), node('south')];
    const password = 'open sesame';
    await north.join('Ada', { password, isHost: true });
    await south.join('Bob', { password });
    await node('east').join('Cleo', { password, isHost: true });
    expect((await north.meeting()).people).to.have.lengthOf(3);
    expect(made).to.have.lengthOf(1);
  });
});
