/** What is under way to another node: one at a time for each target, and so many bytes for all. */
import { expect } from 'chai';
import { createInFlightWindow } from '../../../adapters/cluster/in-flight-window.js';

const LIMIT = 100;

function asking() {
  const window = createInFlightWindow(LIMIT);
  const went: number[] = [];
  const settled: [number, boolean][] = [];
  const ask = (number: number, target: string, bytes: number) =>
    window.add({
      number,
      target,
      bytes,
      send: () => void went.push(number),
      settle: (came) => void settled.push([number, came]),
    });
  return { window, went, settled, ask };
}

describe('what is asked of another node', () => {
  it('goes one at a time to each target, in order', () => {
    const { window, went, settled, ask } = asking();
    ask(1, 'ann', 10);
    ask(2, 'ann', 10);
    ask(3, 'bob', 10);
    expect(went).to.deep.equal([1, 3]);
    window.acknowledge(1, false);
    expect([went, settled]).to.deep.equal([[1, 3, 2], [[1, false]]]);
  });

  it('waits where too much is under way to others, however large it is, and never behind its own target', () => {
    const { window, went, ask } = asking();
    ask(1, 'ann', 60);
    ask(2, 'bob', 60);
    ask(3, 'ann', 5);
    ask(4, 'eve', 500);
    expect(went).to.deep.equal([1]);
    window.acknowledge(1, true);
    expect(went).to.deep.equal([1, 2]);
    window.acknowledge(2, true);
    expect(went).to.deep.equal([1, 2, 4]);
    window.acknowledge(4, true);
    expect(went).to.deep.equal([1, 2, 4, 3]);
  });

  it('is settled as lost when the other one has gone, also what had not gone yet; and then it begins anew', () => {
    const { window, went, settled, ask } = asking();
    ask(1, 'ann', 90);
    ask(2, 'ann', 10);
    ask(3, 'bob', 90);
    window.failAll();
    expect(settled).to.deep.equal([
      [1, false],
      [2, false],
      [3, false],
    ]);
    window.acknowledge(1, true);
    ask(4, 'ann', 90);
    expect([went, settled.length]).to.deep.equal([[1, 4], 3]);
  });
});
