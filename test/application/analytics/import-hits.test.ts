/** Import of hits beyond retention: expired data cannot be imported again. */
import { expect } from 'chai';
import { retentionAggregate, sitesAggregate } from '../../../application/analytics/aggregates.js';
import { createHitImporter } from '../../../application/analytics/import-hits.js';
import { catalog, siteSubject } from '../../../domain/analytics/catalog.js';
import { RETENTION } from '../../../domain/analytics/retention.js';
import { SITES } from '../../../domain/analytics/sites.js';
import { registerSite } from '../../support/analytics-fixtures.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';

const NOON = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;
const BEYOND_RETENTION = 'the day is beyond the retention period';

describe('import of hits beyond retention', () => {
  /**
   * `expiredBefore`: the first day retained by the last expiry. Resolves to a function that returns the rejection
   * reason.
   */
  async function world(expiredBefore: string | undefined, retentionDays: number) {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    const { handle, systemContext: context } = kernel;
    await kernel.vault.create(siteSubject({ instance: 'one' }));
    await handle(sitesAggregate, SITES, { ...registerSite('demo'), now: NOON }, context('test'));
    if (expiredBefore !== undefined) {
      const raw = { before: 0, rows: 0 };
      const command = { type: 'ExpireDays' as const, before: expiredBefore, rows: 1, raw, now: NOON };
      await handle(retentionAggregate, RETENTION, command, context('test'));
    }
    const { validate } = await createHitImporter({
      ...kernel,
      clock: { now: () => NOON },
      agents: { read: () => ({}), isBot: () => false },
      store: () => Promise.reject(new Error('nothing is stored')),
      retentionDays,
      filterBots: false,
    });
    return (daysAgo: number) => {
      const at = NOON - daysAgo * DAY_MS;
      const judged = validate({ site: 'demo', path: '/', timestamp: at }, at);
      return typeof judged === 'string' ? judged : undefined;
    };
  }

  it('rejects expired days even after retention is extended', async () => {
    const why = await world('2026-11-12', 395);
    expect([why(11), why(10)]).to.deep.equal([BEYOND_RETENTION, undefined]);
  });

  it('rejects days beyond retention before they are expired', async () => {
    const why = await world(undefined, 10);
    expect([why(11), why(10)]).to.deep.equal([BEYOND_RETENTION, undefined]);
  });
});
