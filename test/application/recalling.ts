/** What is true of the keyed commands that are known of a stream, on servers and in memory. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Handled } from '../../application/command/idempotency.js';
import { LOOKBACK_EVENTS } from '../../application/command/replay-start.js';
import type { Decider, Rejection } from '../../domain/shared/decider.js';
import { type Box, box, context, type PutToy, type ToyEvent, type ToyPut } from '../support/toys.js';
import { countingReads, fill, freshNode, newestOf } from './boxes.js';
import { type Road, type StartRoads, useRoad } from './road.js';

export function recallingCommands(start: StartRoads) {
  const kernel = useRoad(start);

  it('are known of long before where events say all, by one read further back, and forgotten in the end', async () => {
    const decider: Decider<Box, PutToy, ToyEvent> = {
      ...box.decider,
      evolve: {
        ToyPut: (_, { toy, secret }) => ({ toys: [toy], notes: [secret.note ?? ''] }),
        NotesErased: (state) => state,
      },
    };
    const says = { ...box, decider, isSnapshotEvent: () => true };
    const id = randomUUID();
    const stream = `toys.box-${id}`;
    await kernel.vault.create(stream);
    const put = (node: Pick<Road, 'handle'>, toy: string, body = 'same') =>
      node.handle(says, stream, { box: id, toy }, context(`${id}-${toy}`, body)) as Promise<Handled<Box>>;
    const first = await put(kernel, 'bear');
    await put(kernel, 'doll');
    await fill(kernel, stream, 1000, 1);

    const { log, events } = countingReads(kernel.log);
    const node = freshNode({ log, reveal: kernel.reveal });
    await node.handle(says, stream, { box: id, toy: 'kite' }, context());
    expect(events(), 'read for who has no key').to.be.at.most(400);
    const again = await put(node, 'bear');
    expect(again).to.include({ repeated: true, position: first.position });
    expect((await again.state()).toys).to.deep.equal(['bear']);
    const looked = events();
    expect(await put(node, 'doll', 'another body')).to.include({ kind: 'misused-key' });
    for (const toy of ['ball', 'boat', 'drum']) expect(await put(node, toy)).to.include({ repeated: false });
    expect(await put(node, 'ball', 'another body')).to.include({ kind: 'misused-key' });
    expect(events(), 'read for keys that are new').to.be.at.most(looked + 10);

    const { revision } = await newestOf(kernel.log, stream);
    await fill(kernel, stream, LOOKBACK_EVENTS + 900 - revision, revision);
    await node.streams.reload(says, stream);
    const since = countingReads(kernel.log);
    const late = freshNode({ log: since.log, reveal: kernel.reveal });
    for (const [each, toy] of [
      [node, 'bear'],
      [late, 'doll'],
    ] as const) {
      expect(await put(each, 'drum')).to.include({ repeated: true });
      expect(await put(each, toy, 'another body')).to.include({ repeated: false });
    }
    expect(since.events(), 'read of a stream that is longer').to.be.at.most(LOOKBACK_EVENTS + 450);
  });

  it('are known while the log keeps their events', async () => {
    const { streams, handle } = freshNode(kernel);
    const kept = { ...box, maxCount: 3 };
    const id = randomUUID();
    const stream = `toys.box-${id}`;
    await kernel.vault.create(stream);
    const put = (toy: string): Promise<Handled<unknown> | Rejection> =>
      handle(kept, stream, { box: id, toy }, context(`${id}-${toy}`, 'same'));
    for (const toy of ['a', 'b', 'c', 'd', 'e']) await put(toy);
    const commands = async (each: typeof streams) => [...(await each.load(kept, stream)).keyed.keys()];
    const newest = ['c', 'd', 'e'].map((toy) => `${id}-${toy}`);
    expect(await commands(streams)).to.deep.equal(newest);
    expect(await commands(freshNode(kernel).streams)).to.deep.equal(newest);
    expect(await put('d')).to.include({ repeated: true });
  });

  it('are known by all that they wrote', async () => {
    const { handle } = freshNode(kernel);
    const pairs = {
      ...box,
      decider: {
        ...box.decider,
        decide: ({ box, toy }: PutToy): readonly ToyPut[] =>
          ['left', 'right'].map((side) => ({
            type: 'ToyPut',
            data: { box, toy: `${side} ${toy}`, secret: { note: '' } },
          })),
      },
    };
    const id = randomUUID();
    const stream = `toys.box-${id}`;
    await kernel.vault.create(stream);
    await handle(pairs, stream, { box: id, toy: 'sock' }, context());
    await handle(pairs, stream, { box: id, toy: 'shoe' }, context(id, 'same'));
    expect([...(await freshNode(kernel).streams.load(pairs, stream)).keyed]).to.deep.equal([
      [id, { first: 2, last: 3 }],
    ]);
  });
}
