/** Alerting after a restart reads a bounded part of its streams. */
import { expect } from 'chai';
import { createAggregateStore } from '../../../../application/command/aggregate-store.js';
import { alertAggregate, currentAlertPolicy } from '../../../../application/logs/alerts/aggregates.js';
import { alertStream } from '../../../../domain/logs/alert.js';
import { memoryWorld } from '../../../support/memory-kernel.js';
import { memoryAlerts as fixture } from './memory-alerts.js';

const URL = 'https://hooks.example.com/T0/secret';

describe('in memory, alerting after a restart', () => {
  it('reads at most 1,000 events, however often the policy changed and alerts were raised', async () => {
    const world = memoryWorld();
    const one = fixture(world);
    await one.set({ enabled: true, webhookUrl: URL, cooldownMs: 0, intervalMs: 1000 });
    one.it.errors = 50;
    for (let n = 1; n <= 600; n++) {
      one.it.now++;
      await one.set({ errorThreshold: 1 + (n % 20) });
    }
    const other = fixture(world);
    const read: number[] = [];
    const log: typeof other.log = {
      ...other.log,
      async read(...args) {
        const found = await other.log.read(...args);
        read.push(found.length);
        return found;
      },
    };
    const aggregates = createAggregateStore(log, other.decryptEvent);
    const { state: policy } = await currentAlertPolicy(aggregates);
    expect(policy).to.deep.equal((await one.alerts.policy()).policy);
    const { state } = await aggregates.load(alertAggregate, alertStream('error_threshold'));
    expect(state).to.deep.equal((await one.aggregates.load(alertAggregate, alertStream('error_threshold'))).state);
    expect(state.undelivered).to.have.length(100);
    expect(read.reduce((sum, each) => sum + each)).to.be.at.most(1000);
  });
});
