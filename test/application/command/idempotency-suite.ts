/** The contract of the idempotency index of a stream, on servers and in memory. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Handled } from '../../../application/command/idempotency.js';
import type { Decider, Rejection } from '../../../domain/shared/decider.js';
import { type Box, box, context, type PutToy, type ToyEvent } from '../../support/toy-service.js';
import { countingReads, fill, freshNode } from './boxes.js';
import { type Road, type StartRoads, useRoad } from './two-nodes.js';

export function recallingCommands(start: StartRoads) {
  const kernel = useRoad(start);

  it('are found among the events since a snapshot event', async () => {
    const decider: Decider<Box, PutToy, ToyEvent> = {
      ...box.decider,
      evolve: {
        ToyPut: (_, { toy, secret }) => ({ toys: [toy], notes: [secret.note ?? ''] }),
        NotesErased: (state) => state,
      },
    };
    const snapshotBox = { ...box, decider, isSnapshotEvent: () => true };
    const id = randomUUID();
    const stream = `toys.box-${id}`;
    await kernel.vault.create(stream);
    const put = (node: Pick<Road, 'handle'>, toy: string, body = 'same') =>
      node.handle(snapshotBox, stream, { box: id, toy }, context(`${id}-${toy}`, body)) as Promise<Handled<Box>>;
    await put(kernel, 'bear');
    await fill(kernel, stream, 1000, 0);
    const doll = await put(kernel, 'doll');

    const { log, events } = countingReads(kernel.log);
    const node = freshNode({ log, decryptEvent: kernel.decryptEvent });
    const again = await put(node, 'doll');
    expect(again).to.include({ repeated: true, position: doll.position });
    expect((await again.state()).toys).to.deep.equal(['doll']);
    expect(await put(node, 'doll', 'another body')).to.include({ kind: 'misused-key' });
    expect(await put(node, 'bear')).to.include({ repeated: false });
    expect(await put(node, 'bear', 'another body')).to.include({ kind: 'misused-key' });
    expect(events()).to.be.at.most(1000);
  });

  it('are found while the log retains their events', async () => {
    const { aggregates, handle } = freshNode(kernel);
    const boundedBox = { ...box, maxCount: 3 };
    const id = randomUUID();
    const stream = `toys.box-${id}`;
    await kernel.vault.create(stream);
    const put = (toy: string): Promise<Handled<unknown> | Rejection> =>
      handle(boundedBox, stream, { box: id, toy }, context(`${id}-${toy}`, 'same'));
    for (const toy of ['a', 'b', 'c', 'd', 'e']) await put(toy);
    const commands = async (each: typeof aggregates) => [...(await each.load(boundedBox, stream)).commands.keys()];
    const newest = ['c', 'd', 'e'].map((toy) => `${id}-${toy}`);
    expect(await commands(aggregates)).to.deep.equal(newest);
    expect(await commands(freshNode(kernel).aggregates)).to.deep.equal(newest);
    expect(await put('d')).to.include({ repeated: true });
  });

  it('map to the range of all events they wrote', async () => {
    const { handle } = freshNode(kernel);
    const pairs = {
      ...box,
      decider: {
        ...box.decider,
        decide: ({ box, toy }: PutToy): readonly ToyEvent[] =>
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
    expect([...(await freshNode(kernel).aggregates.load(pairs, stream)).commands]).to.deep.equal([
      [id, { first: 2, last: 3 }],
    ]);
  });
}
