/** Hosts who come at one moment to a room that is not open yet. */
import { expect } from 'chai';
import { type Arrival, createEntering } from '../../../application/meeting/entering.js';
import { roomKind } from '../../../application/meeting/kinds.js';
import { catalog, meetingSubject } from '../../../domain/meeting/catalog.js';
import { roomStream } from '../../../domain/meeting/state.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toys.js';

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
    // It has heard of none.
    const room = () => undefined;
    const { enter } = createEntering({ ...kernel, clock: Date, room, run, passwords, returnMs: 20_000 });
    const take = (participantId: string) => ({ id: participantId, leave() {} });
    const comes = (name: string, wish: Partial<Arrival>) =>
      enter({ roomId, name, caller: 'x', ...wish }, take, context());
    const host = (name: string) => comes(name, { isHost: true });
    const meeting = async () => (await kernel.streams.refresh(roomKind, roomStream(roomId))).state;
    return { comes, host, meeting };
  }
  return { node, made, dropped };
}

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
