/** `annals analytics seed`: three sites with a year behind them, for whoever wants to see what a dashboard shows. */
import { Option } from 'commander';
import { createDirectory } from '../../../application/analytics/site-directory.js';
import { createSites } from '../../../application/analytics/sites.js';
import type { PastHit } from '../../../application/analytics/store-imported-hits.js';
import { dayOf, type SiteInstance } from '../../../domain/analytics/hit-batch.js';
import { DAY_MS, MOST_DAYS } from '../../../domain/analytics/period.js';
import { isRejection } from '../../../domain/shared/index.js';
import { days as daysModel } from '../../../projections/analytics/daily-counts.js';
import { createDayReader } from '../../../projections/analytics/daily-counts-reader.js';
import type { Kernel } from '../../node/kernel.js';
import { Failed } from '../failure.js';
import { createOverlapping } from '../input/bounded-parallel.js';
import { showProgress } from '../input/progress.js';
import { hitsOfDay } from './demo.js';
import { DEMO_SITES, type DemoSite } from './demo-sites.js';
import { analyticsCommand, between } from './run.js';

/** An append each. */
const LOT_HITS = 1000;
const AT_ONCE = 8;
/** A day of a site stands in memory. */
const MOST_SCALE = 1000;

export const seed = analyticsCommand(
  {
    description:
      `Makes the sites ${DEMO_SITES.map(({ id }) => id).join(', ')} and counts what might have happened on them up to now: ` +
      'weeks, growth, campaigns, referrers, devices and countries, the same for the same seed. Sites of these ids that ' +
      'there are already are left alone, and nothing is made, unless they may be replaced. Works beside a running server, ' +
      'and without one.',
    examples: [
      ['analytics seed', 'a year of three sites'],
      ['analytics seed --replace --days 30 --scale 10', 'again, a month, and ten times as much'],
    ],
    options: [
      new Option('--seed <text>', 'Other visits for another text').default('annals'),
      new Option('--days <count>', 'Days up to today').argParser(between(1, MOST_DAYS, true)).default(365),
      new Option('--scale <factor>', 'So many times as many visits')
        .argParser(between(0.01, MOST_SCALE, false))
        .default(1),
      new Option('--replace', 'Delete the sites of these ids first, with all that was counted of them'),
    ],
  },
  async ({ options, config: { values } }, { kernel, store, stop }) => {
    const retentionDays = values['analytics.retentionDays'];
    const days = Math.min(Number(options.days), retentionDays);
    const sites = await sitesOf(kernel);
    await sites.makeRoom(Boolean(options.replace));
    const made = await Promise.all(DEMO_SITES.map(sites.make));
    const now = kernel.clock.now();
    const about = { now, seed: String(options.seed), scale: Number(options.scale) };
    const tally = { accepted: 0 };
    let done = 0;
    const progress = showProgress({ name: 'demo', size: days * made.length, read: () => done }, tally, 'hits');
    const storing = createOverlapping(AT_ONCE);
    const put = async (instance: string, hits: readonly PastHit[], from: number) => {
      const some = hits.slice(from, from + LOT_HITS);
      const day = dayOf(some[0]?.at ?? now);
      const id = kernel.derivation.id('analytics.seed', instance, day, String(from));
      await store({ id, fingerprint: 'seed', hits: some });
      tally.accepted += some.length;
    };
    try {
      for (let ago = days - 1; ago >= 0; ago--)
        for (const { site, of } of made) {
          if (stop.aborted) break;
          const start = Math.floor(now / DAY_MS - ago) * DAY_MS;
          const hits = hitsOfDay({ site, of, start, ...about });
          for (let from = 0; from < hits.length; from += LOT_HITS)
            await storing.begin(() => put(of.instance, hits, from));
          done++;
          progress.update();
        }
      await storing.end();
    } finally {
      progress.end();
    }
    process.stdout.write(
      `${tally.accepted.toLocaleString('en')} hits of ${days} days on ${made.map(({ site }) => site.id).join(', ')}\n`,
    );
    return 0;
  },
);

/** The sites of the demonstration: of those that there are, and made. */
async function sitesOf(kernel: Kernel) {
  const { streams, served, vault, lifecycle, systemContext } = kernel;
  const { state, revision } = await lifecycle.current(daysModel);
  if (state) served.adopt({ ...state, revision });
  const build = () => served.collection(daysModel.name);
  const counted = createDayReader({ db: kernel.mongo.models, vault, build });
  const directory = createDirectory({ streams, heard: () => 0n });
  const countDays = async (instance: string) => (state ? counted.countDays(instance) : 0);
  const sites = createSites({ ...kernel, directory, countDays, base: () => 'http://localhost' });
  const context = () => systemContext('operator');

  async function makeRoom(mayReplace: boolean): Promise<void> {
    const ids = DEMO_SITES.map(({ id }) => id);
    const find = await directory.find(ids);
    const there = ids.filter((id) => find(id));
    if (there.length > 0 && !mayReplace)
      throw new Failed(
        `${there.join(', ')} ${there.length === 1 ? 'is' : 'are'} there already: --replace deletes ` +
          `${there.length === 1 ? 'it' : 'them'}, with all that was counted`,
      );
    for (const id of there) {
      const removed = await sites.remove(id, context());
      if (isRejection(removed)) throw new Failed(removed.detail ?? removed.rejected);
    }
  }

  async function make(site: DemoSite): Promise<{ readonly site: DemoSite; readonly of: SiteInstance }> {
    const { id, name, domain, events } = site;
    const allowedEventProperties = events.map(({ property }) => property);
    const done = await sites.create({ id, name, domains: [domain], allowedEventProperties }, context());
    if (isRejection(done)) throw new Failed(done.detail ?? done.rejected);
    const of = (await directory.find([id]))(id);
    if (!of) throw new Error('a site was made, and is not there');
    return { site, of };
  }

  return { makeRoom, make };
}
