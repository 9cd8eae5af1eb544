/** Events ordered by what caused them. */
import { expect } from 'chai';
import { causationTree } from '../../../application/audit/causation-tree.js';
import type { RevealedEvent } from '../../../application/ports/index.js';

const event = (id: string, $causationId?: string) => ({ id, metadata: { $causationId } }) as unknown as RevealedEvent;
const shown = (events: readonly RevealedEvent[]) =>
  causationTree(events).map(({ event: { id }, depth }) => `${'-'.repeat(depth)}${id}`);

describe('a causation tree', () => {
  it('lists each event before those it caused, and keeps the order otherwise', () => {
    const events = [event('a', 'command'), event('b', 'command'), event('a1', 'a'), event('b1', 'b'), event('a2', 'a')];
    expect(shown(events)).to.deep.equal(['a', '-a1', '-a2', 'b', '-b1']);
    expect(shown([...events, event('deep', 'a1')])).to.deep.equal(['a', '-a1', '--deep', '-a2', 'b', '-b1']);
  });

  it('contains events whose cause was not selected or is unknown', () => {
    expect(shown([event('a1', 'a'), event('b'), event('a2', 'a1')])).to.deep.equal(['a1', '-a2', 'b']);
    expect(shown([])).to.deep.equal([]);
  });
});
