/** Reads of large rooms are limited and shared: many concurrent readers once exhausted the memory of the process. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createRoomCache, createRoomQueries } from '../../../application/rooms/queries.js';
import { memoryWorld } from '../../support/memory-kernel.js';
import { envelope, HOUR, NOON, signingPublicKey } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { memoryNode } from './memory-node.js';
import { accepted, done, viewOf } from './node.js';

/** Work in numbered runs; the nth run resolves at `end(nth)`. */
function createWork<Result>(result: (nth: number) => Result) {
  const ends: (() => void)[] = [];
  const begin = async () => {
    const nth = ends.length;
    await new Promise<void>((resolve) => ends.push(resolve));
    return result(nth);
  };
  return { begin, begun: () => ends.length, end: (nth: number) => ends[nth]?.() };
}

describe('reads of rooms', () => {
  it('are coalesced for concurrent readers, each of whom gets the requested page', async () => {
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
    const work = createWork(() => {});
    const find = async (...args: Parameters<typeof node.rows.find>) => {
      await work.begin();
      return node.rows.find(...args) as never;
    };
    const cache = createRoomCache(node.aggregates, 2);
    const queries = createRoomQueries({ ...node, rows: { find }, cache, livePosition: () => 0n, clock });
    const pages = [undefined, ids[9], undefined, ids[49], ids[78]].map(async (after) =>
      viewOf(accepted(await queries.state(await admitted(), after))).messages.map(({ id }) => id),
    );
    for (let nth = 0; nth < 2; nth++) {
      await eventually(() => work.begun() > nth);
      work.end(nth);
    }
    const from = [0, 10, 0, 50, 79];
    expect(await Promise.all(pages)).to.deep.equal(from.map((index) => ids.slice(index)));
    expect(work.begun()).to.equal(2);
  });

  it('fail for a room that expired or was burned meanwhile', async () => {
    let now = NOON;
    const clock = { now: () => now };
    const node = memoryNode(memoryWorld(), clock);
    const create = async () =>
      done(await node.commands.create({ name: 'Ada', signingPublicKey }, HOUR, context())).body;
    /** The page of a room that `end` ends after its rows were read. */
    async function pageAfter(end: (room: Awaited<ReturnType<typeof create>>) => unknown) {
      const room = await create();
      const admitted = accepted(await node.authenticator.authenticate(room.roomId, room.sessionToken));
      const find = async (...args: Parameters<typeof node.rows.find>) => {
        const rows = await node.rows.find(...args);
        await end(room);
        return rows as never;
      };
      const cache = createRoomCache(node.aggregates);
      // This reader holds the key it decrypts with.
      const vault = { ...node.vault, open: async () => ({ name: 'Ada', signingPublicKey }) };
      return createRoomQueries({ ...node, vault, rows: { find }, cache, livePosition: () => 0n, clock }).state(
        admitted,
      );
    }
    expect(await pageAfter(() => {})).to.have.property('json');
    const burn = ({ roomId, participantId }: Awaited<ReturnType<typeof create>>) =>
      node.commands.burn(roomId, participantId, context());
    expect(await pageAfter(burn)).to.include({ kind: 'not-found' });
    const expire = () => {
      now += HOUR;
    };
    expect(await pageAfter(expire)).to.include({ kind: 'not-found' });
  });
});
