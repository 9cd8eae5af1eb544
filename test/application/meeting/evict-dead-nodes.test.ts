/** People whose node is gone leave in time, once, and nobody does who has come back. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { roomAggregate } from '../../../application/meeting/aggregates.js';
import { createDeadNodeEviction } from '../../../application/meeting/evict-dead-nodes.js';
import { catalog, meetingSubject } from '../../../domain/meeting/catalog.js';
import type { RoomCommand } from '../../../domain/meeting/room.js';
import { type RoomState, roomStream } from '../../../domain/meeting/state.js';
import { fakeClock } from '../../support/fake-clock.js';
import { joinRoom, meetingId, NOON, openRoom, roomId } from '../../support/meeting-fixtures.js';
import { commandsOf, memoryKernel, memoryWorld } from '../../support/memory-kernel.js';

const RETURN_MS = 20_000;
const stream = roomStream(roomId);

describe('a node that is gone', () => {
  async function installation() {
    const world = memoryWorld();
    const time = fakeClock();
    const alive = new Set(['north', 'south']);
    const context = { actor: 'test', correlationId: 'c' };
    let commands = 0;

    function node() {
      const kernel = memoryKernel(world, [catalog], time);
      const { handle } = commandsOf({ ...kernel, clock: time });
      const load = async () => (await kernel.streams.load(roomAggregate, stream)).state;
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
        /** Hears of all that is in the log, and looks. */
        async look() {
          known = await load();
          await sweep(new AbortController().signal);
        },
        /** Looks, and knows only what it has heard before. */
        lookBehind: () => sweep(new AbortController().signal),
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

  it('has its people leave when it has been gone for its time, and no sooner; nobody else’s', async () => {
    const { look, time, alive, people } = await installation();
    await look();
    alive.delete('south');
    await look();
    time.pass(RETURN_MS - 1);
    await look();
    expect(await people()).to.deep.equal(['ada', 'bob', 'cleo']);
    time.pass(1);
    await look();
    expect(await people()).to.deep.equal(['ada']);
  });

  it('loses their connections at once, and says so once', async () => {
    const { look, alive, load, events } = await installation();
    alive.delete('south');
    await look();
    const lost = async () => (await load()).people.filter(({ isLost }) => isLost).map(({ id }) => id);
    expect(await lost()).to.deep.equal(['bob', 'cleo']);
    const before = events();
    await look();
    expect(events()).to.equal(before);
  });

  it('begins anew when it was heard of again', async () => {
    const { look, time, alive, people } = await installation();
    alive.delete('south');
    await look();
    time.pass(RETURN_MS - 1);
    alive.add('south');
    await look();
    alive.delete('south');
    await look();
    time.pass(RETURN_MS - 1);
    await look();
    expect(await people()).to.deep.equal(['ada', 'bob', 'cleo']);
  });

  it('keeps nobody who has come back over another one', async () => {
    const { look, act, time, alive, people } = await installation();
    alive.delete('south');
    await look();
    await act({
      type: 'ReturnToRoom',
      roomId,
      participantId: 'bob',
      node: 'north',
      seat: 'another',
      now: NOON,
    });
    time.pass(RETURN_MS);
    await look();
    expect(await people()).to.deep.equal(['ada', 'bob']);
  });

  it('is said once, however many nodes say it, also those that have not heard yet', async () => {
    const { look, lookBehind, node, time, alive, people, events } = await installation();
    const other = node();
    alive.delete('south');
    for (const each of [look, other.look]) await each();
    time.pass(RETURN_MS);
    await Promise.all([look(), other.look()]);
    expect(await people()).to.deep.equal(['ada']);
    const before = events();
    await lookBehind();
    await other.lookBehind();
    await other.look();
    expect(events()).to.equal(before);
  });
});
