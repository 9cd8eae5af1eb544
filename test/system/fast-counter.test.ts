/** What is counted beside a counter, as whoever asks for the metrics reads it. */
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { createFastCounter } from '../../adapters/platform/observability/metrics.js';

describe('a tally', () => {
  it('is all that was counted since the start, by service, however often it is asked for', async () => {
    const registry = new Registry();
    const toys = createFastCounter('toys_total', 'Toys', registry);
    const told = async () => (await registry.metrics()).split('\n').filter((line) => line.startsWith('toys'));
    const [boxes, shelves] = [toys('boxes'), toys('shelves')];
    expect(await told()).to.deep.equal([]);
    boxes();
    boxes(2);
    shelves(7);
    const counted = ['toys_total{service="boxes"} 3', 'toys_total{service="shelves"} 7'];
    expect(await told()).to.deep.equal(counted);
    expect(await told()).to.deep.equal(counted);
    toys('boxes')();
    expect(await told()).to.deep.equal(['toys_total{service="boxes"} 4', counted[1]]);
  });
});
