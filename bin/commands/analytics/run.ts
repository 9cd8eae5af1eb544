/** Runs the commands of analytics: connects the stores, and maps exit codes and interrupts. */
import { onEnd } from '../../../adapters/platform/process/shutdown.js';
import { createDailyVisitorKeys } from '../../../application/analytics/daily-visitor-keys.js';
import { createImportBatchStore, type StoreImportBatch } from '../../../application/analytics/store-imported-hits.js';
import type { Kernel } from '../../node/kernel.js';
import { release } from '../../node/release.js';
import { STORE_SETTINGS } from '../../settings.js';
import { type Call, type CommandSpec, INTERRUPTED, SOME_REJECTED } from '../command.js';
import { printError } from '../output.js';
import { withKernel } from '../stores.js';

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
    const interrupted = new AbortController();
    const { signal: stop } = interrupted;
    const unwatch = onEnd(
      () => interrupted.abort(),
      () => process.exit(INTERRUPTED),
    );
    try {
      return await withKernel(values, async ({ kernel }) => {
        const { systemContext: context } = kernel;
        const store = createImportBatchStore({
          ...kernel,
          visitorKeys: createDailyVisitorKeys({ ...kernel, context }),
          origin: { service: 'analytics', release },
          retentionDays: values['analytics.retentionDays'],
          context,
        });
        const code = await work(call, { kernel, store, stop });
        if (!stop.aborted) return code;
        printError('stopped');
        return INTERRUPTED;
      });
    } finally {
      unwatch();
    }
  },
});
