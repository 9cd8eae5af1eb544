/** What the commands of analytics stand on: the stores, and the road of hits of the past into the log. */
import { InvalidArgumentError } from 'commander';
import { onEnd } from '../../../adapters/platform/process/signals.js';
import { createDailyVisitorKeys } from '../../../application/analytics/daily-visitor-keys.js';
import { createStorePast, type StorePast } from '../../../application/analytics/store-imported-hits.js';
import { type Kernel, openKernel } from '../../node/kernel.js';
import { release } from '../../node/release.js';
import { services } from '../../services/all.js';
import { STORE_SETTINGS } from '../../settings.js';
import type { Call, CommandSpec } from '../command.js';
import { createCommandLogger } from '../logger.js';
import { findStores } from '../stores.js';

/** All was gone through, but not everything of it was taken. */
export const SOME_REJECTED = 3;
/** Ended by Ctrl-C, as shells count it. */
const INTERRUPTED = 130;

const EXIT_CODES =
  `\n\nExit codes: 0 done, 1 failed, 2 wrong usage, ${SOME_REJECTED} (import) some lines were not taken, ` +
  `${INTERRUPTED} interrupted.`;

export interface Tools {
  readonly kernel: Kernel;
  readonly store: StorePast;
  /** Aborted by Ctrl-C. */
  readonly stop: AbortSignal;
}

/** A command on the stores themselves, beside a running server or without one. */
export const analyticsCommand = (
  spec: Omit<CommandSpec, 'run'>,
  work: (call: Call, tools: Tools) => Promise<number>,
): CommandSpec => ({
  ...spec,
  description: spec.description + EXIT_CODES,
  reads: () => [...STORE_SETTINGS, 'analytics.retentionDays', 'analytics.filterBots'],
  async run(call) {
    const { values } = call.config;
    const logger = createCommandLogger(values);
    const servers = await findStores(values, logger);
    const interrupted = new AbortController();
    const unwatch = onEnd(
      () => interrupted.abort(),
      () => process.exit(INTERRUPTED),
    );
    const kernel = await openKernel(servers, values, services, logger);
    const { signal: stop } = interrupted;
    const { systemContext: context } = kernel;
    const store = createStorePast({
      ...kernel,
      visitorDays: createDailyVisitorKeys({ ...kernel, context }),
      origin: { service: 'analytics', release },
      retentionDays: values['analytics.retentionDays'],
      context,
    });
    try {
      const code = await work(call, { kernel, store, stop });
      if (!stop.aborted) return code;
      process.stderr.write('annals: stopped\n');
      return INTERRUPTED;
    } finally {
      unwatch();
      await kernel.close();
      await servers.stop();
    }
  },
});

/** Reads a number of the command line. */
export const between =
  (least: number, most: number, isWhole: boolean) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+(\.\d+)?$/.test(text) && value >= least && value <= most && (!isWhole || Number.isInteger(value)))
      return value;
    throw new InvalidArgumentError(`It must be from ${least} to ${most}.`);
  };
