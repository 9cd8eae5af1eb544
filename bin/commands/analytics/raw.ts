/** `annals analytics raw`: what came lately, for those who look for a fault. */
import { Argument, Option } from 'commander';
import { newestRaw } from '../../../application/analytics/raw-hits.js';
import { createDirectory } from '../../../application/analytics/site-directory.js';
import { siteIdOf } from '../../../domain/analytics/site-fields.js';
import { raw as rawModel } from '../../../projections/analytics/raw.js';
import { Failed } from '../failure.js';
import { print } from '../print.js';
import { analyticsCommand, between } from './run.js';

const MOST = 10_000;

export const raw = analyticsCommand(
  {
    description:
      'Shows what came to a site lately as it was counted, newest last, as NDJSON (one JSON object a line): no address, ' +
      'no user agent, nothing of who it was. It is kept only where analytics.storeRaw says so, for ' +
      'analytics.rawRetentionHours. Works beside a running server, and without one.',
    examples: [['analytics raw demo | tail -3', 'the last three hits']],
    arguments: [new Argument('<site>', 'Id of the site')],
    options: [
      new Option('-n, --limit <count>', 'At most so many moments').argParser(between(1, MOST, true)).default(1000),
    ],
  },
  async ({ args: [given = ''], options }, { kernel, stop }) => {
    const id = siteIdOf(given) ?? '';
    const directory = createDirectory({ streams: kernel.streams, heard: () => 0n });
    const site = (await directory.find([id]))(id);
    if (!site) throw new Failed(`there is no site ${given}`);
    const { state, revision } = await kernel.lifecycle.current(rawModel);
    if (state) kernel.served.adopt({ ...state, revision });
    const hits = await newestRaw(kernel, site.instance, Number(options.limit));
    await print(hits.map((hit) => `${JSON.stringify(hit)}\n`).join(''), stop);
    return 0;
  },
);
