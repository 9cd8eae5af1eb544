/** `annals backup`: copies the data directory, with or without a running server. */
import { existsSync, renameSync } from 'node:fs';
import { resolve } from 'node:path';
import { areStoresMarked, openCopySource } from '@annals/engines';
import { Argument } from 'commander';
import type { Call, CommandSpec } from './command.js';
import { copyDataDirectory, isWithin, print } from './copy-data-directory.js';
import { Failed } from './failure.js';
import { noData } from './stores.js';

export const backup: CommandSpec = {
  description:
    'Copies the data directory, including a generated secret, to a new directory outside of it, for "annals restore". ' +
    'Works with or without a running server: the copy contains everything acknowledged before the command. ' +
    'The copy is made as <directory>.unfinished, tested and renamed at the end, so a directory with the final name is ' +
    'complete. Back up configured servers with their own tools.',
  examples: [
    ['backup /var/backups/annals-1', 'back up ./data'],
    ['backup /var/backups/annals-2 --data-dir /var/lib/annals', 'back up another directory'],
    ['restore /var/backups/annals-1', 'restore it later'],
  ],
  arguments: [new Argument('<directory>', 'Target directory; must not exist')],
  async run({ config: { values }, args: [directory = ''] }: Call) {
    if (values['eventStore.url'] || values['mongo.url']) throw new Failed(CONFIGURED_SERVERS);
    const [from, to] = [resolve(values.dataDir), resolve(directory)];
    if (!areStoresMarked(from)) throw noData(from);
    if (isWithin(from, to))
      throw new Failed(`${to} is inside the data directory ${from}; choose a directory outside of it`);
    if (existsSync(to)) throw new Failed(`${to} already exists; choose a new directory`);
    await copyDataDirectory({ from, to, values, open: openCopySource }, (unfinished) => renameSync(unfinished, to));
    if (values.secret) print('the copy does not contain the configured secret, which is needed to read it');
    return 0;
  },
};

const CONFIGURED_SERVERS =
  'back up configured servers with their own tools: the event store first, then MongoDB with all three databases';
