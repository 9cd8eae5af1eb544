/** Backs up the data directory on a schedule, in a process of its own, and removes the oldest backups. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { isLocked } from '@annals/engines';
import type { Logger } from '../../application/ports/index.js';
import type { runPeriodically } from '../../application/subscription/index.js';
import type { AnnalsValues } from '../settings.js';

/** Time between checks whether a backup is due; a failed one is tried again then. */
const CHECK_EVERY_MS = 10 * 60_000;
const HOUR_MS = 3_600_000;
/** Time after which a backup is stopped, as it hangs. */
const DEADLINE_MS = 24 * HOUR_MS;

/** Backups of the schedule are named by their time; other entries of the directory are left alone. */
const NAME = /^annals-(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)Z$/;

const UNFINISHED = /^annals-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.unfinished$/;

export const backupName = (at: number): string =>
  `annals-${new Date(at)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')}`;

/** Entries of the directory with such a name, oldest first. */
const entriesOf = (directory: string, name: RegExp): readonly string[] =>
  readdirSync(directory)
    .filter((each) => name.test(each))
    .sort();

/** Scheduled backups of a directory, oldest first, without names of a future time, which a wrong clock has made. */
const backupsIn = (directory: string): readonly string[] =>
  entriesOf(directory, NAME).filter((name) => name <= backupName(Date.now()));

/** Unix ms of the newest scheduled backup in a directory; undefined without one. */
export function newestBackup(directory: string): number | undefined {
  const [, hour, minute, second] = NAME.exec(backupsIn(directory).at(-1) ?? '') ?? [];
  return hour === undefined ? undefined : Date.parse(`${hour}:${minute}:${second}Z`);
}

/** The job, for one node at a time; undefined without `backup.directory`. */
export function scheduledBackups(
  values: AnnalsValues,
  logger: Logger,
): Pick<Parameters<typeof runPeriodically>[0], 'name' | 'everyMs' | 'run'> | undefined {
  const directory = values['backup.directory'];
  if (directory === undefined) return undefined;
  const remove = (name: string) => rmSync(join(directory, name), { recursive: true, force: true });

  return {
    name: 'backup',
    everyMs: CHECK_EVERY_MS,
    async run(signal) {
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        const now = Date.now();
        if (now - (newestBackup(directory) ?? 0) < values['backup.everyHours'] * HOUR_MS) return;
        // Of backups that were killed; one that still runs holds a lock.
        for (const left of entriesOf(directory, UNFINISHED)) if (!isLocked(join(directory, left))) remove(left);
        const name = backupName(now);
        await backUp(join(directory, name), values, signal);
        logger.info({ backup: join(directory, name) }, 'backup made');
        for (const old of backupsIn(directory).slice(0, -values['backup.keep'])) remove(old);
      } catch (err) {
        if (!signal.aborted) logger.error({ err, directory }, 'scheduled backup failed; trying again in ten minutes');
      }
    },
  };
}

/** Runs `annals backup`; rejects with what it printed if it fails. */
async function backUp(target: string, values: AnnalsValues, signal: AbortSignal): Promise<void> {
  const flags = ['--data-dir', resolve(values.dataDir), '--mongo-database', values['mongo.database']];
  const program = [...process.execArgv, process.argv[1]!, 'backup', target, ...flags];
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'ignore', 'pipe'], timeout: DEADLINE_MS, signal });
  const ended = new Promise<number | null>((done, fail) => child.once('error', fail).once('close', done));
  const [code, printed] = await Promise.all([ended, text(child.stderr)]);
  if (code !== 0) throw new Error(printed.trim() || `annals backup ended with ${code}`);
}
