/** `annals analytics seed`: creates demo sites with a year of hits, to try out the dashboard. */
import { Option } from 'commander';
import { createSiteDirectory, createSites } from '../../../application/analytics/sites.js';
import type { HistoricalHit } from '../../../application/analytics/store-imported-hits.js';
import { createBoundedParallel } from '../../../application/concurrency/index.js';
import { dayOf, type SiteInstance } from '../../../domain/analytics/hit.js';
import { DAY_MS, MAX_DAYS } from '../../../domain/analytics/report.js';
import { isRejection } from '../../../domain/shared/index.js';
import { days as daysModel } from '../../../projections/analytics/daily-counts.js';
import { createDayReader } from '../../../projections/analytics/daily-counts-reader.js';
import type { Kernel } from '../../node/kernel.js';
import { between } from '../argument-parsers.js';
import { Failed } from '../failure.js';
import { showProgress } from '../input/progress.js';
import { adoptActiveBuilds } from '../stores.js';
import { hitsOfDay } from './demo.js';
import { DEMO_SITES, type DemoSite } from './demo-sites.js';
import { analyticsCommand } from './run.js';

/** Hits per append. */
const BATCH_HITS = 1000;
const CONCURRENCY = 8;
/** Bounds memory, which holds a day of a site. */
const MAX_SCALE = 1000;

export const seed = analyticsCommand(
  {
    description:
      `Creates the sites ${DEMO_SITES.map(({ id }) => id).join(', ')} with generated hits up to now: ` +
      'weekly patterns, growth, campaigns, referrers, devices and countries, the same for the same seed. If a site of ' +
      'these ids exists, it fails and changes nothing, unless --replace is given. Works with or without a running server.',
    examples: [
      ['analytics seed', 'three sites with a year of hits'],
      ['analytics seed --replace --days 30 --scale 10', 'again, with a month and ten times as many visits'],
    ],
    options: [
      new Option('--seed <text>', 'Seed of the generated visits').default('annals'),
      new Option('--days <count>', 'Days up to today').argParser(between(1, MAX_DAYS, true)).default(365),
      new Option('--scale <factor>', 'Factor on the number of visits')
        .argParser(between(0.01, MAX_SCALE, false))
        .default(1),
      new Option('--replace', 'Delete existing sites of these ids first, with all their data'),
    ],
  },
  async ({ options, config: { values } }, { kernel, store, stop }) => {
    const retentionDays = values['analytics.retentionDays'];
    const days = Math.min(Number(options.days), retentionDays);
    const sites = await createDemoSites(kernel);
    await sites.clear(Boolean(options.replace));
    const created = await Promise.all(DEMO_SITES.map(sites.create));
    const now = kernel.clock.now();
    const generation = { now, seed: String(options.seed), scale: Number(options.scale) };
    const tally = { accepted: 0 };
    let done = 0;
    const progress = showProgress({ name: 'demo', size: days * created.length, read: () => done }, tally, 'hits');
    const jobs = createBoundedParallel(CONCURRENCY);
    const put = async (instance: string, hits: readonly HistoricalHit[], from: number) => {
      const batch = hits.slice(from, from + BATCH_HITS);
      const day = dayOf(batch[0]?.at ?? now);
      const id = kernel.derivation.id('analytics.seed', instance, day, String(from));
      await store({ id, fingerprint: 'seed', hits: batch });
      tally.accepted += batch.length;
    };
    try {
      for (let ago = days - 1; ago >= 0; ago--)
        for (const { site, instance } of created) {
          if (stop.aborted) break;
          const start = Math.floor(now / DAY_MS - ago) * DAY_MS;
          const hits = hitsOfDay({ site, instance, start, ...generation });
          for (let from = 0; from < hits.length; from += BATCH_HITS)
            await jobs.start(() => put(instance.instance, hits, from));
          done++;
          progress.update();
        }
      await jobs.finish();
    } finally {
      progress.end();
    }
    process.stdout.write(
      `${tally.accepted.toLocaleString('en')} hits on ${days} days for ${created.map(({ site }) => site.id).join(', ')}\n`,
    );
    return 0;
  },
);

/** Removes and creates the demo sites. */
async function createDemoSites(kernel: Kernel) {
  const { aggregates, served, vault, systemContext } = kernel;
  const hasDays = await adoptActiveBuilds(kernel, [daysModel]);
  const build = served.collectionOf(daysModel.name);
  const dayReader = createDayReader({ db: kernel.mongo.models, vault, build });
  const directory = createSiteDirectory(aggregates);
  const countDays = async (instance: string) => (hasDays ? dayReader.countDays(instance) : 0);
  const sites = createSites({ ...kernel, directory, countDays, appUrl: () => 'http://localhost' });
  const context = () => systemContext('operator');

  async function clear(mayReplace: boolean): Promise<void> {
    const ids = DEMO_SITES.map(({ id }) => id);
    const find = await directory.find(ids);
    const existing = ids.filter((id) => find(id));
    if (existing.length > 0 && !mayReplace)
      throw new Failed(
        `${existing.join(', ')} ${existing.length === 1 ? 'exists' : 'exist'} already; --replace deletes ` +
          `${existing.length === 1 ? 'it' : 'them'}, with all data`,
      );
    for (const id of existing) {
      const removed = await sites.remove(id, context());
      if (isRejection(removed)) throw new Failed(removed.detail ?? removed.rejected);
    }
  }

  async function create(site: DemoSite): Promise<{ readonly site: DemoSite; readonly instance: SiteInstance }> {
    const { id, name, domain, events } = site;
    const allowedEventProperties = events.map(({ property }) => property);
    const done = await sites.create({ id, name, domains: [domain], allowedEventProperties }, context());
    if (isRejection(done)) throw new Failed(done.detail ?? done.rejected);
    const instance = (await directory.find([id]))(id);
    if (!instance) throw new Error('a created site was not found');
    return { site, instance };
  }

  return { clear, create };
}
