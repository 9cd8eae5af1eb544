/** Runs the commands of analytics: connects the stores, and maps exit codes and interrupts. */
import { InvalidArgumentError } from 'commander';
import { onEnd } from '../../../adapters/platform/process/signals.js';
import { createDailyVisitorKeys } from '../../../application/analytics/daily-visitor-keys.js';
import { createImportBatchStore, type StoreImportBatch } from '../../../application/analytics/store-imported-hits.js';
import { type Kernel, openKernel } from '../../node/kernel.js';
import { release } from '../../node/release.js';
import { loadServices } from '../../services/all.js';
import { STORE_SETTINGS } from '../../settings.js';
import type { Call, CommandSpec } from '../command.js';
import { createCommandLogger } from '../logger.js';
import { findStores } from '../stores.js';

/** Everything was processed, but some lines were rejected. */
export const SOME_REJECTED = 3;
/** Ended by Ctrl-C, by the convention of shells. */
const INTERRUPTED = 130;

const EXIT_CODES =
  `\n\nExit codes: 0 success, 1 failed, 2 wrong usage, ${SOME_REJECTED} (import) some lines were rejected, ` +
  `${INTERRUPTED} interrupted.`;

export interface Tools {
  readonly kernel: Kernel;
  readonly store: StoreImportBatch;
  /** Aborted by Ctrl-C. */
  readonly stop: AbortSignal;
}

/** Creates a command that works on the stores, with or without a running server. */
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
    const kernel = await openKernel(servers, values, await loadServices(), logger);
    const { signal: stop } = interrupted;
    const { systemContext: context } = kernel;
    const store = createImportBatchStore({
      ...kernel,
      visitorKeys: createDailyVisitorKeys({ ...kernel, context }),
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

/** Parses a number of the command line within a range. */
export const between =
  (min: number, max: number, isWhole: boolean) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+(\.\d+)?$/.test(text) && value >= min && value <= max && (!isWhole || Number.isInteger(value)))
      return value;
    throw new InvalidArgumentError(`It must be between ${min} and ${max}.`);
  };
