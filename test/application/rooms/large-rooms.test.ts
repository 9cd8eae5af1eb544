/** Large rooms are read few at a time, and once for all who wait: many readers at once took the memory of the process. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createRoomCache, createRoomQueries } from '../../../application/rooms/queries.js';
import { memoryWorld } from '../../support/memory-kernel.js';
import { envelope, HOUR, NOON, signingPublicKey } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { memoryNode } from './memory-node.js';
import { accepted, done, shownBy } from './node.js';

/** Work that ends when it is told to. */
function held<Result>(result: (nth: number) => Result) {
  const ends: (() => void)[] = [];
  const begin = async () => {
    const nth = ends.length;
    await new Promise<void>((resolve) => ends.push(resolve));
    return result(nth);
  };
  return { begin, begun: () => ends.length, end: (nth: number) => ends[nth]?.() };
}

describe('readings of rooms', () => {
  it('are few, however many ask for a large room, each of whom is shown what it asked for', async () => {
    let now = NOON;
    const clock = { now: () => now };
    const node = memoryNode(memoryWorld(), clock);
    const room = done(await node.commands.create({ name: 'Ada', signingPublicKey }, 24 * HOUR, context())).body;
    const admitted = async () => accepted(await node.authenticator.authenticate(room.roomId, room.sessionToken));
    const ids: string[] = [];
    for (let index = 0; index < 80; index++) {
      now += 2000;
      ids.push(
        done(await node.commands.post(await admitted(), { ...envelope, messageIndex: index }, context())).body.id,
      );
    }
    const work = held(() => {});
    const find = async (...asked: Parameters<typeof node.rows.find>) => {
      await work.begin();
      return node.rows.find(...asked) as never;
    };
    const shown = createRoomCache(node.streams, 2);
    const queries = createRoomQueries({ ...node, rows: { find }, shown, clock });
    const asked = [undefined, ids[9], undefined, ids[49], ids[78]].map(async (after) =>
      shownBy(accepted(await queries.state(await admitted(), after))).messages.map(({ id }) => id),
    );
    for (let nth = 0; nth < 2; nth++) {
      await eventually(() => work.begun() > nth);
      work.end(nth);
    }
    const from = [0, 10, 0, 50, 79];
    expect(await Promise.all(asked)).to.deep.equal(from.map((index) => ids.slice(index)));
    expect(work.begun()).to.equal(2);
  });

  it('are none of a room that has ended meanwhile, by its time or by who burned it', async () => {
    let now = NOON;
    const clock = { now: () => now };
    const node = memoryNode(memoryWorld(), clock);
    const create = async () =>
      done(await node.commands.create({ name: 'Ada', signingPublicKey }, HOUR, context())).body;
    /** What somebody is shown of a room, when this is done once its rows are read. */
    async function shownAfter(end: (room: Awaited<ReturnType<typeof create>>) => unknown) {
      const room = await create();
      const admitted = accepted(await node.authenticator.authenticate(room.roomId, room.sessionToken));
      const find = async (...asked: Parameters<typeof node.rows.find>) => {
        const rows = await node.rows.find(...asked);
        await end(room);
        return rows as never;
      };
      const shown = createRoomCache(node.streams);
      // The keys that it has opened with are in its hands.
      const vault = { ...node.vault, open: async () => ({ name: 'Ada', signingPublicKey }) };
      return createRoomQueries({ ...node, vault, rows: { find }, shown, clock }).state(admitted);
    }
    expect(await shownAfter(() => {})).to.have.property('json');
    const burn = ({ roomId, participantId }: Awaited<ReturnType<typeof create>>) =>
      node.commands.burn(roomId, participantId, context());
    expect(await shownAfter(burn)).to.include({ kind: 'not-found' });
    const late = () => {
      now += HOUR;
    };
    expect(await shownAfter(late)).to.include({ kind: 'not-found' });
  });
});
