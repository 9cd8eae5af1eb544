/** Expiry of days: streams of expired days are deleted from the log, retained ones are not. */
import { expect } from 'chai';
import { sitesAggregate } from '../../../application/analytics/aggregates.js';
import { cleanupRound, createCleanup, expireReaction } from '../../../application/analytics/expire-days.js';
import { createSiteDirectory } from '../../../application/analytics/sites.js';
import { newEvent } from '../../../application/command/event-envelope.js';
import type { RecordedEvent } from '../../../application/ports/index.js';
import { catalog, siteSubject } from '../../../domain/analytics/catalog.js';
import { hitsCollected, trafficStream } from '../../../domain/analytics/hit.js';
import type { DaysExpired } from '../../../domain/analytics/retention.js';
import { SITES } from '../../../domain/analytics/sites.js';
import { registerSite } from '../../support/analytics-fixtures.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';

const MADE = Date.UTC(2026, 9, 1, 12);
const DAY_MS = 86_400_000;

describe('expiry of days', () => {
  function withUnconfirmedClock() {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    const none = { countBefore: async () => 0 };
    const cleanup = createCleanup({
      ...kernel,
      clock: {
        now: () => MADE,
        confirmedNow: async () => undefined,
        inSync: () => true,
      },
      days: none,
      raw: none,
      retentionDays: 1,
      rawRetentionHours: 1,
    });
    return { cleanup, context: () => kernel.systemContext('test') };
  }

  it('waits without an error while the clock is unconfirmed', async () => {
    const { cleanup, context } = withUnconfirmedClock();
    await cleanupRound(cleanup, context)();
  });

  it('answers a manual request with "unavailable" and the reason while clocks differ', async () => {
    const { cleanup, context } = withUnconfirmedClock();
    const rejection = await cleanup(context());
    expect(rejection).to.include({ kind: 'unavailable', retryAfterMs: 60_000 });
    expect(rejection)
      .to.have.property('detail')
      .that.matches(/clocks.*differ/);
  });

  it('deletes exactly the streams between the previous expiry and this one', async () => {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    const { log, vault } = kernel;
    const site = { siteId: 'demo', instance: 'one' };
    await vault.create(siteSubject(site));
    const made = { ...registerSite('demo'), now: MADE };
    await kernel.handle(sitesAggregate, SITES, made, kernel.systemContext('test'));
    const streams: string[] = [];
    for (let n = 0; n < 5; n++) {
      const event = hitsCollected(site, MADE + n * DAY_MS, [{ path: '/' }], []);
      const stream = trafficStream('one', event.data.day);
      const origin = { service: 'analytics', release: 'test' };
      await log.append(stream, 'none', [newEvent(origin, stream, event, 0, kernel.systemContext('test'))]);
      streams.push(stream);
    }
    const directory = createSiteDirectory(kernel.aggregates);
    const reaction = expireReaction({ log, directory });
    const expire = (before: string, since: string) =>
      reaction.on.DaysExpired({
        data: { before, since, rows: 0, expiredAt: 0 },
        position: 0n,
      } as RecordedEvent<DaysExpired>);
    const ended = async () => Promise.all(streams.map(async (stream) => (await log.read(stream)) === 'deleted'));
    await expire('2026-10-03', '');
    expect(await ended()).to.deep.equal([true, true, false, false, false]);
    await expire('2026-10-05', '2026-10-03');
    await expire('2026-10-05', '2026-10-03');
    expect(await ended()).to.deep.equal([true, true, true, true, false]);
  });
});
