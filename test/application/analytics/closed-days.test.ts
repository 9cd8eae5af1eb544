/** Hits for a day that retention expired too early because a clock ran ahead and was corrected later. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { sitesAggregate } from '../../../application/analytics/aggregates.js';
import { eraseReaction } from '../../../application/analytics/erase-site-reaction.js';
import { createCleanup, expireReaction } from '../../../application/analytics/expire-days.js';
import { createHitBatcher } from '../../../application/analytics/hit-batcher.js';
import { createSiteDirectory } from '../../../application/analytics/sites.js';
import { createGroupCommit } from '../../../application/command/group-commit.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { catalog, siteSubject } from '../../../domain/analytics/catalog.js';
import { trafficStream } from '../../../domain/analytics/hit.js';
import { SITES } from '../../../domain/analytics/sites.js';
import { registerSite } from '../../support/analytics-fixtures.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';

const NOON = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;
const site = { siteId: 'demo', instance: 'one' };
const own = trafficStream('one', '2026-11-22');
const later = trafficStream('one', '2026-11-27');

/** A site with one hit today. `expireAhead` expires days with a clock that is 400 days ahead. */
async function world() {
  const kernel = memoryKernel(memoryWorld(), [catalog]);
  const { log, vault, aggregates } = kernel;
  await vault.create(siteSubject(site));
  await kernel.handle(sitesAggregate, SITES, { ...registerSite('demo'), now: NOON }, kernel.systemContext('test'));
  const start = () =>
    createHitBatcher({
      appender: createGroupCommit({ log, logger: silentLogger, appended() {} }),
      aggregates,
      origin: { service: 'analytics', release: 'test' },
    });
  const collecting = start();
  const collect = (path: string, at = NOON, by = collecting) =>
    by.add(site, at, [{ hit: { path }, visitor: undefined }], 'request').catch((error: unknown) => error);
  const days = async (stream: string) => {
    const events = await log.read(stream);
    return typeof events === 'string' ? events : events.map(({ data }) => data.day);
  };
  async function expireAhead() {
    const ahead = NOON + 400 * DAY_MS;
    const none = { countBefore: async () => 0 };
    const cleanup = createCleanup({
      ...kernel,
      projectionProgress: { ...kernel.projectionProgress, wait: async () => true },
      clock: {
        now: () => ahead,
        confirmedNow: async () => ahead,
        inSync: () => true,
      },
      days: none,
      raw: none,
      retentionDays: 395,
      rawRetentionHours: 24,
    });
    await cleanup(kernel.systemContext('test'));
    const data = { before: '2026-11-27', since: '', rows: 0, expiredAt: ahead };
    const directory = createSiteDirectory(aggregates);
    await expireReaction({ log, directory }).on.DaysExpired({ data, position: 0n } as never);
  }
  const remove = (deletedAt: number) =>
    eraseReaction({ log, vault, aggregates }).on.SiteDeleted({
      data: { ...site, registeredAt: NOON, deletedAt },
    } as never);
  await collect('/before');
  return { start, collect, days, expireAhead, remove };
}

describe('hits of an expired day', () => {
  it('are stored in the first day that has not expired', async () => {
    const { start, collect, days, expireAhead } = await world();
    await expireAhead();
    for (const by of [undefined, undefined, start()]) expect(await collect('/again', NOON, by)).to.be.a('bigint');
    await collect('/next', NOON + DAY_MS);
    expect(await days(own)).to.equal('deleted');
    expect(await days(later)).to.deep.equal(['2026-11-22', '2026-11-22', '2026-11-22', '2026-11-23']);
  });

  it('are deleted together with their site', async () => {
    const { collect, days, expireAhead, remove } = await world();
    await expireAhead();
    await collect('/again');
    await remove(NOON);
    expect(await days(later)).to.equal('deleted');
    expect(await collect('/too late')).to.be.instanceOf(UnavailableError);
  });

  it('are refused after their site was deleted', async () => {
    const { collect, days, remove } = await world();
    await remove(NOON);
    expect(await collect('/too late')).to.be.instanceOf(UnavailableError);
    expect(await days(later)).to.equal('missing');
  });
});
