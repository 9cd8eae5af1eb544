/** `annals restore`: copies a backup to the data directory, which is complete or as before at any moment. */
import { existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  areStoresMarked,
  EngineFailed,
  isLocked,
  lockDirectory,
  openClosedSource,
  readRuntime,
  StoreDamaged,
} from '@annals/engines';
import { Argument, Option } from 'commander';
import type { Call, CommandSpec } from './command.js';
import { copyDataDirectory, isWithin, print, realPathOf, UNFINISHED } from './copy-data-directory.js';
import { Failed } from './failure.js';

export const restore: CommandSpec = {
  description:
    'Copies a directory made by "annals backup" to the data directory, which must not exist or be empty, unless ' +
    '--replace is given. The copy is made beside it, tested and renamed at the end, so the data directory is never ' +
    'incomplete. The backup stays as it is. Stop the server first.',
  examples: [
    ['restore /var/backups/annals-1', 'restore to ./data'],
    ['restore /var/backups/annals-1 --data-dir /var/lib/annals --replace', 'move the present data aside, then restore'],
  ],
  arguments: [new Argument('<backup>', 'Directory made by "annals backup"')],
  options: [new Option('--replace', 'Rename present data to <data directory>.replaced-<time>; it is not deleted')],
  async run({ config: { values }, args: [backup = ''], options }: Call) {
    if (values['eventStore.url'] || values['mongo.url']) throw new Failed(CONFIGURED_SERVERS);
    // Renaming a symbolic link would leave the data where it points to.
    const [from, to] = [resolve(backup), realPathOf(resolve(values.dataDir))];
    checkBackup(from);
    if (isWithin(from, to) || isWithin(to, from))
      throw new Failed(`${from} and the data directory ${to} are inside each other; choose another --data-dir`);
    const present = claimTarget(to, options.replace === true);
    try {
      await copyDataDirectory({ from, to, values, open: openClosedSource }, (unfinished) => {
        if (present) renameSync(to, present.aside);
        renameSync(unfinished, to);
      });
    } catch (error) {
      if (error instanceof StoreDamaged || error instanceof EngineFailed) throw damagedBackup(from);
      throw error;
    } finally {
      present?.release();
    }
    if (present) print(`the former data is in ${present.aside}; remove it when it is no longer needed`);
    if (present)
      print(
        'checkpoints of the transparency log signed since the backup do not fit any more: tell those who have them',
      );
    if (!existsSync(join(from, 'secret')))
      print('the backup contains no secret: start with the secret that was configured when it was made');
    print(`start the server: annals serve --data-dir ${to}`);
    return 0;
  },
};

const CONFIGURED_SERVERS = 'restore configured servers with their own tools, then run "annals reindex"';

const damagedBackup = (from: string) =>
  new Failed(`${from} is damaged, or was made by another build of Annals; choose another backup`);

function checkBackup(from: string): void {
  if (from.endsWith(UNFINISHED)) throw new Failed(`${from} is an unfinished copy; choose a complete backup`);
  if (!areStoresMarked(from)) throw new Failed(`${from} is not a backup: it has no file "stores"`);
  // Locks are tried only where engines ran: a backup may be on read-only media.
  if (readRuntime(from) && isLocked(from)) throw new Failed(`${from} is in use by a server; stop it first`);
}

/**
 * Checks that the data directory may be created. Locks one to be replaced, so that no server starts on it meanwhile, and
 * returns the name for it; undefined if there is no data.
 */
function claimTarget(to: string, replace: boolean) {
  if (!existsSync(to)) return undefined;
  if (statSync(to).dev !== statSync(dirname(to)).dev)
    throw new Failed(`${to} is a mount point, which cannot be renamed; choose a directory in it with --data-dir`);
  if (readdirSync(to).length === 0) return undefined;
  if (!replace) throw new Failed(`${to} is not empty; stop its server and give --replace to move its data aside`);
  const { release } = lockDirectory(to);
  const time = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  return { aside: `${to}.replaced-${time.replaceAll(':', '-')}`, release };
}
