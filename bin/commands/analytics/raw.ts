/** `annals analytics raw`: shows stored raw hits, for debugging. */
import { Argument, Option } from 'commander';
import { createSiteDirectory } from '../../../application/analytics/sites.js';
import { parseSiteId } from '../../../domain/analytics/site-fields.js';
import { raw as rawModel, readNewestRawHits } from '../../../projections/analytics/raw.js';
import { between } from '../argument-parsers.js';
import { Failed } from '../failure.js';
import { print } from '../output.js';
import { adoptActiveBuilds } from '../stores.js';
import { analyticsCommand } from './run.js';

const MAX_HITS = 10_000;

export const raw = analyticsCommand(
  {
    description:
      'Shows the recent hits of a site as they were counted, newest last, as NDJSON (one JSON object per line), without ' +
      'addresses, user agents or other data of visitors. They are stored only if analytics.storeRaw is set, for ' +
      'analytics.rawRetentionHours. Works with or without a running server.',
    examples: [['analytics raw demo | tail -3', 'the last three hits']],
    arguments: [new Argument('<site>', 'Id of the site')],
    options: [
      new Option('-n, --limit <count>', 'Maximum number of hits').argParser(between(1, MAX_HITS, true)).default(1000),
    ],
  },
  async ({ args: [siteId = ''], options }, { kernel, stop }) => {
    const id = parseSiteId(siteId) ?? '';
    const directory = createSiteDirectory(kernel.aggregates);
    const site = (await directory.find([id]))(id);
    if (!site) throw new Failed(`there is no site ${siteId}`);
    await adoptActiveBuilds(kernel, [rawModel]);
    const hits = await readNewestRawHits(kernel, site.instance, Number(options.limit));
    await print(hits.map((hit) => `${JSON.stringify(hit)}\n`).join(''), stop);
    return 0;
  },
);
