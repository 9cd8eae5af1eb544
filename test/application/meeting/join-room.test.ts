/** Coming to a room that is not open: hosts at one moment, and people who ask for it in vain. */
import { expect } from 'chai';
import { createAggregateStore } from '../../../application/command/aggregate-store.js';
import { roomAggregate } from '../../../application/meeting/aggregates.js';
import { createRoomEntry, type JoinRequest } from '../../../application/meeting/join-room.js';
import { catalog, meetingSubject } from '../../../domain/meeting/catalog.js';
import { roomStream } from '../../../domain/meeting/state.js';
import { commandsOf, memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toy-service.js';

const roomId = 'ABC234';

function house() {
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
      read(...asked) {
        reads++;
        return kernel.log.read(...asked);
      },
    };
    const streams = createAggregateStore(log, kernel.decryptEvent);
    const { handle } = commandsOf({ ...kernel, log, streams });
    // It has heard of none.
    const room = () => undefined;
    const { enter } = createRoomEntry({
      ...kernel,
      handle,
      streams,
      clock: Date,
      room,
      run,
      passwords,
      returnMs: 20_000,
    });
    const take = (participantId: string) => ({ id: participantId, leave() {} });
    const comes = (name: string, wish: Partial<JoinRequest>) =>
      enter({ roomId, name, caller: 'x', ...wish }, take, context());
    const host = (name: string) => comes(name, { isHost: true });
    const meeting = async () => (await kernel.streams.reload(roomAggregate, roomStream(roomId))).state;
    return { comes, host, meeting, reads: () => reads };
  }
  return { node, made, dropped };
}

describe('who asks for a room that does not exist', () => {
  it('costs one read of the log', async () => {
    const { comes, reads } = house().node('here');
    expect(await comes('Eve', {})).to.include({ rejected: 'meeting/room-not-found' });
    expect(reads()).to.equal(1);
  });
});

describe('hosts who come to a room at one moment', () => {
  it('make one key, and are all in its one meeting', async () => {
    const { node, made, dropped } = house();
    const { host, meeting } = node('here');
    await Promise.all(['Ada', 'Bob', 'Cleo', 'Dan'].map(host));
    const { people, meetingId } = await meeting();
    expect(people).to.have.lengthOf(4);
    expect([...made]).to.deep.equal([meetingSubject({ meetingId })]);
    expect(dropped).to.have.lengthOf(0);
  });

  it('leave no key but that of the meeting, whichever node was faster', async () => {
    const { node, made, dropped } = house();
    const [north, south] = [node('north'), node('south')];
    await Promise.all([north.host('Ada'), south.host('Bob')]);
    const { people, meetingId } = await north.meeting();
    expect(people).to.have.lengthOf(2);
    expect(made, 'both would open it').to.have.lengthOf(2);
    const left = [...made].filter((subject) => !dropped.has(subject));
    expect(left).to.deep.equal([meetingSubject({ meetingId })]);
  });

  it('find one that another node has opened, though this one has not heard of it', async () => {
    const { node, made } = house();
    const [north, south] = [node('north'), node('south')];
    const password = 'open sesame';
    await north.comes('Ada', { password, isHost: true });
    await south.comes('Bob', { password });
    await node('east').comes('Cleo', { password, isHost: true });
    expect((await north.meeting()).people).to.have.lengthOf(3);
    expect(made).to.have.lengthOf(1);
  });
});
