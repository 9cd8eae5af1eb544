/** `annals scavenge`: removes deleted and expired events from the disk of the event store. */
import { scavenge as scavengeStore } from '../../adapters/eventstore/scavenge.js';
import type { Call, CommandSpec } from './command.js';
import { createCommandLogger, findStores } from './stores.js';

export const scavenge: CommandSpec = {
  description:
    'Removes events from the disk of the event store that no reader can see any more: those of deleted streams, and ' +
    'those beyond the maximum age or count of their stream. The embedded engine also does this once a day.',
  examples: [['scavenge', 'waits until it is done']],
  async run({ config: { values } }: Call) {
    const servers = await findStores(values, createCommandLogger(values));
    try {
      const { scavengeId, result, durationMs, spaceSaved } = await scavengeStore(servers.eventStoreUrl);
      const saved = spaceSaved === undefined ? '' : `, ${(Number(spaceSaved) / 1024 / 1024).toFixed(1)} MiB freed`;
      process.stdout.write(`${result} in ${(durationMs / 1000).toFixed(1)} s${saved} (scavenge ${scavengeId})\n`);
      return /success/i.test(result) ? 0 : 1;
    } finally {
      await servers.stop();
    }
  },
};
