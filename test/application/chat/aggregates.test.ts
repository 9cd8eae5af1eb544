/** Aggregates seeded from the state of the relay read only the events that follow it. */
import { expect } from 'chai';
import { rosterAggregate, seedAggregatesFromRelay } from '../../../application/chat/aggregates.js';
import { chatAudience } from '../../../application/chat/audience/audience.js';
import { createAggregateStore } from '../../../application/command/aggregate-store.js';
import type { EventLog } from '../../../application/ports/index.js';
import { catalog } from '../../../domain/chat/catalog.js';
import { ROSTER } from '../../../domain/chat/roster.js';
import { added, admin, renamed } from '../../support/chat-user-fixtures.js';
import { starting } from '../../support/snapshot-spec.js';

const chat = chatAudience(() => null);

describe('aggregates seeded from the relay', () => {
  it('read only events after the seed, even where the feed delivered older ones before', async () => {
    const node = await starting(catalog, chat);
    const positions: bigint[] = [];
    for (const event of [admin('ada'), added('bob'), renamed('bob', 'Bobby'), added('cyd')])
      positions.push(await node.append({ stream: ROSTER, event }));
    const { state } = await node.at(positions[1]!);
    const read: number[] = [];
    const log: EventLog = {
      ...node.log,
      async read(...args) {
        const found = await node.log.read(...args);
        if (typeof found !== 'string') read.push(...found.map(({ revision }) => revision));
        return found;
      },
    };
    const aggregates = createAggregateStore(log, node.decryptEvent);
    const users = async () => [...(await aggregates.load(rosterAggregate, ROSTER)).state.users.values()];
    const all = await node.log.read(ROSTER);
    if (typeof all === 'string') throw new Error(all);
    for (const event of all) aggregates.onEvent(event);
    aggregates.forget(ROSTER);
    seedAggregatesFromRelay(aggregates, state);
    expect((await users()).map(({ userName }) => userName)).to.have.members(['ada', 'Bobby', 'cyd']);
    await users();
    expect(read).to.deep.equal([2, 3]);
    // An older seed does not replace a newer cached aggregate.
    seedAggregatesFromRelay(aggregates, state);
    await users();
    expect(read).to.deep.equal([2, 3]);
  });
});
