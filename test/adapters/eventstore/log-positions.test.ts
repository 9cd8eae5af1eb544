/** Positions in a log that was copied to another store. */
import { expect } from 'chai';
import { copiedPositions, firstRecordOf, ORIGIN } from '../../../adapters/eventstore/log-positions.js';

type Stored = Parameters<typeof firstRecordOf>[0];

const stored = (position: bigint, metadata: object): Stored =>
  ({ position: { commit: position, prepare: position }, created: new Date(5000), metadata }) as unknown as Stored;

describe('positions in a copied log', () => {
  // The source ended at 250; its copy ends at 900 in the target.
  const positions = copiedPositions([
    { log: 0n, store: 50n },
    { log: 100n, store: 300n },
    { log: 250n, store: 900n },
  ]);

  it('lead to a position in the store before all later events', () => {
    const starts = [0n, 99n, 100n, 101n, 249n, 250n, 899n, 900n, 1200n].map(positions.toStore);
    expect(starts).to.deep.equal([50n, 50n, 300n, 300n, 300n, 900n, 900n, 900n, 1200n]);
    expect(copiedPositions([{ log: 250n, store: 900n }]).toStore(249n)).to.equal('start');
  });

  it('are reached where the store is known to have come that far', () => {
    const reached = [49n, 50n, 299n, 300n, 899n, 900n, 1200n].map(positions.fromStore);
    expect(reached).to.deep.equal([undefined, 0n, 0n, 100n, 100n, 900n, 1200n]);
  });

  it('are those of the first record, for copied events', () => {
    const copy = stored(310n, { actor: 'ada', [ORIGIN]: { position: '104', time: 4000 } });
    expect(positions.of(copy)).to.equal(104n);
    expect(firstRecordOf(copy)).to.deep.equal({ position: 104n, recordedAt: 4000, metadata: { actor: 'ada' } });
    expect(positions.of(stored(310n, {}))).to.equal(undefined);
  });

  it('are those of the store, for later events', () => {
    const later = stored(901n, { actor: 'ada' });
    expect(positions.of(later)).to.equal(901n);
    expect(firstRecordOf(later)).to.deep.equal({ position: 901n, recordedAt: 5000, metadata: { actor: 'ada' } });
    expect([899n, 900n].map(positions.isCopied)).to.deep.equal([true, false]);
  });
});
