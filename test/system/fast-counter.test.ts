/** A counter that adds up outside of prom-client, as metrics show it. */
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { createFastCounter } from '../../adapters/platform/observability/metrics.js';

describe('the fast counter', () => {
  it('reports totals by service at every read', async () => {
    const registry = new Registry();
    const toys = createFastCounter('toys_total', 'Toys', registry);
    const lines = async () => (await registry.metrics()).split('\n').filter((line) => line.startsWith('toys'));
    const [boxes, shelves] = [toys('boxes'), toys('shelves')];
    expect(await lines()).to.deep.equal([]);
    boxes();
    boxes(2);
    shelves(7);
    const counted = ['toys_total{service="boxes"} 3', 'toys_total{service="shelves"} 7'];
    expect(await lines()).to.deep.equal(counted);
    expect(await lines()).to.deep.equal(counted);
    toys('boxes')();
    expect(await lines()).to.deep.equal(['toys_total{service="boxes"} 4', counted[1]]);
  });
});
