/** Eviction of the participants of a dead node: on time, once, and not after they reconnected. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { roomAggregate } from '../../../application/meeting/aggregates.js';
import { createDeadNodeEviction } from '../../../application/meeting/evict-dead-nodes.js';
import { catalog, meetingSubject } from '../../../domain/meeting/catalog.js';
import type { RoomCommand } from '../../../domain/meeting/commands.js';
import { type RoomState, roomStream } from '../../../domain/meeting/state.js';
import { fakeClock } from '../../support/fake-clock.js';
import { joinRoom, meetingId, NOON, openRoom, roomId } from '../../support/meeting-fixtures.js';
import { commandsOf, memoryKernel, memoryWorld } from '../../support/memory-kernel.js';

const RETURN_MS = 20_000;
const stream = roomStream(roomId);

describe('eviction of the participants of a dead node', () => {
  async function installation() {
    const world = memoryWorld();
    const time = fakeClock();
    const alive = new Set(['north', 'south']);
    const context = { actor: 'test', correlationId: 'c' };
    let commands = 0;

    function node() {
      const kernel = memoryKernel(world, [catalog], time);
      const { handle } = commandsOf({ ...kernel, clock: time });
      const load = async () => (await kernel.aggregates.load(roomAggregate, stream)).state;
      let known: RoomState | undefined;
      const sweep = createDeadNodeEviction({
        handle,
        mesh: { liveNodes: () => alive },
        rooms: () => (known?.isOpen ? [[roomId, known] as const] : []),
        returnMs: RETURN_MS,
        clock: time,
        monotonic: time,
        systemContext: (actor) => ({ ...context, actor, commandId: `sweep-${commands++}` }),
        logger: silentLogger,
      });
      return {
        load,
        act: (command: RoomCommand) =>
          handle(roomAggregate, stream, command, { ...context, commandId: `act-${commands++}` }),
        /** Loads the current state and runs the sweep. */
        async sweepCurrent() {
          known = await load();
          await sweep(new AbortController().signal);
        },
        /** Runs the sweep with the state loaded before. */
        sweepStale: () => sweep(new AbortController().signal),
        vault: kernel.vault,
      };
    }
    const first = node();
    await first.vault.create(meetingSubject({ meetingId }));
    await first.act(openRoom());
    await first.act(joinRoom('ada'));
    await first.act(joinRoom('bob', { node: 'south' }));
    await first.act(joinRoom('cleo', { node: 'south' }));
    const people = async () => (await first.load()).people.map(({ id }) => id);
    const events = () => world.all.length;
    return { ...first, node, time, alive, people, events };
  }

  it('happens after the reconnection time, and only to participants of that node', async () => {
    const { sweepCurrent, time, alive, people } = await installation();
    await sweepCurrent();
    alive.delete('south');
    await sweepCurrent();
    time.pass(RETURN_MS - 1);
    await sweepCurrent();
    expect(await people()).to.deep.equal(['ada', 'bob', 'cleo']);
    time.pass(1);
    await sweepCurrent();
    expect(await people()).to.deep.equal(['ada']);
  });

  it('first marks their connections as lost, once', async () => {
    const { sweepCurrent, alive, load, events } = await installation();
    alive.delete('south');
    await sweepCurrent();
    const lostParticipants = async () =>
      (await load()).people.filter(({ isDisconnected }) => isDisconnected).map(({ id }) => id);
    expect(await lostParticipants()).to.deep.equal(['bob', 'cleo']);
    const before = events();
    await sweepCurrent();
    expect(events()).to.equal(before);
  });

  it('starts over if the node was alive again meanwhile', async () => {
    const { sweepCurrent, time, alive, people } = await installation();
    alive.delete('south');
    await sweepCurrent();
    time.pass(RETURN_MS - 1);
    alive.add('south');
    await sweepCurrent();
    alive.delete('south');
    await sweepCurrent();
    time.pass(RETURN_MS - 1);
    await sweepCurrent();
    expect(await people()).to.deep.equal(['ada', 'bob', 'cleo']);
  });

  it('spares participants who reconnected through another node', async () => {
    const { sweepCurrent, act, time, alive, people } = await installation();
    alive.delete('south');
    await sweepCurrent();
    await act({
      type: 'ReturnToRoom',
      roomId,
      participantId: 'bob',
      node: 'north',
      seat: 'another',
      now: NOON,
    });
    time.pass(RETURN_MS);
    await sweepCurrent();
    expect(await people()).to.deep.equal(['ada', 'bob']);
  });

  it('is written once by several nodes, even by those with stale state', async () => {
    const { sweepCurrent, sweepStale, node, time, alive, people, events } = await installation();
    const other = node();
    alive.delete('south');
    for (const each of [sweepCurrent, other.sweepCurrent]) await each();
    time.pass(RETURN_MS);
    await Promise.all([sweepCurrent(), other.sweepCurrent()]);
    expect(await people()).to.deep.equal(['ada']);
    const before = events();
    await sweepStale();
    await other.sweepStale();
    await other.sweepCurrent();
    expect(events()).to.equal(before);
  });
});
