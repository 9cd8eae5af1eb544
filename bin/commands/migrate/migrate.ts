/** `annals migrate`: copies an installation from the embedded engines to an EventStoreDB and a MongoDB. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { areStoresMarked, DirectoryInUse, startEngines } from '@annals/engines';
import { Option } from 'commander';
import { compareLogs, LogDifference } from '../../../adapters/eventstore/compare-logs.js';
import { completeMigration, copyLog, copyRules } from '../../../adapters/eventstore/copy-log.js';
import { readHeadPosition } from '../../../adapters/eventstore/subscription.js';
import { ConfigError } from '../../../adapters/platform/config/config-error.js';
import { onEnd } from '../../../adapters/platform/process/shutdown.js';
import type { AnnalsValues } from '../../settings.js';
import type { Call, CommandSpec } from '../command.js';
import { Failed } from '../failure.js';
import { printError } from '../output.js';
import { progressBar } from '../progress-bar.js';
import { createStoreRetries } from '../retry-store.js';
import { createCommandLogger, noData } from '../stores.js';
import { compareTransparencyLog, copyFiles, copyKeys, copyOtherDocuments } from './documents.js';
import { claimTarget, type Migration, withStores } from './stores.js';

const TO_EVENT_STORE = '--to-event-store';
const TO_MONGO = '--to-mongo';

export const migrate: CommandSpec = {
  description:
    'Copies everything from the embedded engines of a data directory to an EventStoreDB and a MongoDB: the log with its ' +
    'streams, revisions, positions and times, keys, uploaded files and the transparency log. Read models are built by ' +
    'the first start. Both servers must be empty. The data directory stays as it is; stop its server first. The command ' +
    'may be stopped or killed at any moment; run the same command again to continue. At the end it compares the copy ' +
    'with the data directory and says what to set.',
  examples: [
    [
      `migrate ${TO_EVENT_STORE} 'esdb://es1:2113?tls=true' ${TO_MONGO} 'mongodb://m1/?replicaSet=rs0'`,
      'from ./data to these servers',
    ],
  ],
  options: [
    new Option(`${TO_EVENT_STORE} <url>`, 'EventStoreDB to copy to, esdb://...').env('MIGRATE_TO_EVENT_STORE'),
    new Option(`${TO_MONGO} <url>`, 'MongoDB to copy to, mongodb://...').env('MIGRATE_TO_MONGO'),
  ],
  reads: () => ['dataDir', 'mongo.database', 'log.format'],
  async run({ config: { values }, options }: Call) {
    if (values['eventStore.url'] || values['mongo.url'])
      throw new Failed('configured servers need no migration; copy them with their own tools');
    const eventStoreUrl = address(TO_EVENT_STORE, options.toEventStore, /^esdb(?:\+discover)?:\/\//);
    const mongoUrl = address(TO_MONGO, options.toMongo, /^mongodb(?:\+srv)?:\/\//);
    const dataDir = resolve(values.dataDir);
    if (!areStoresMarked(dataDir)) throw noData(dataDir);
    const logger = createCommandLogger(values);
    const interrupted = new AbortController();
    onEnd(
      () => interrupted.abort(),
      () => process.exit(1),
    );
    const engines = await startEngines({ dataDir, passing: true, logger }).catch((error) => {
      throw error instanceof DirectoryInUse ? new Failed(`${error.message}; stop it first`) : error;
    });
    try {
      const stores = { source: engines, target: { eventStoreUrl, mongoUrl }, database: values['mongo.database'] };
      await withStores({ ...stores, logger, signal: interrupted.signal }, async (migration) => {
        if ((await claimTarget(migration)) === 'complete') return print('these servers have everything already');
        await copyEverything(migration, values);
        if (engines.damagedEvents() > 0)
          throw new Failed(`${engines.damagedEvents()} events of the source are damaged; restore a backup of it first`);
        await completeMigration(migration.source, migration.target);
      });
      printNextSteps(values);
      return 0;
    } catch (error) {
      if (error instanceof LogDifference)
        throw new Failed(`${error.message}; empty both servers and run the command again`);
      if (!interrupted.signal.aborted) throw error;
      printError('stopped; run the same command again to continue');
      return 1;
    } finally {
      await engines.stop();
    }
  },
};

function address(option: string, url: unknown, form: RegExp): string {
  if (typeof url !== 'string') throw new ConfigError(option, 'is required');
  if (!form.test(url)) throw new ConfigError(option, `must be an address that matches ${form.source}`);
  return url;
}

/** Keys first, as events are useless without them. The log is compared before the rules of its streams hide events. */
async function copyEverything(migration: Migration, values: AnnalsValues): Promise<void> {
  const head = await readHeadPosition(migration.source);
  print(`keys: ${count(await copyKeys(migration))}`);
  const files = await copyFiles(migration, values);
  print(`files: ${count(files.files)}, ${(files.bytes / 1e6).toFixed(1)} MB`);
  await copyEvents(migration, head ?? 0n);
  const { events, streams } = await compareEvents(migration);
  print(`log: all ${count(events)} events in ${count(streams)} streams are equal and in the same order`);
  print(`rules: of ${count(await copyRules(migration))} streams`);
  const documents = await copyOtherDocuments(migration);
  print(`checkpoints: ${count(documents.checkpoints)}`);
  const entries = await compareTransparencyLog(migration);
  print(entries === undefined ? 'transparency log: none' : `transparency log: all ${count(entries)} entries agree`);
  if ((await readHeadPosition(migration.source)) !== head)
    throw new Failed('another command wrote to the data directory meanwhile; run the same command again');
}

async function copyEvents(migration: Migration, head: bigint): Promise<void> {
  const started = performance.now();
  const bar = progressBar('log');
  const retries = createStoreRetries(migration.signal, ({ message }) => printError(`${message}, trying again`));
  let [events, fillers] = [0, 0];
  try {
    await retries.run(() => {
      const before = { events, fillers };
      return copyLog(migration, (progress) => {
        retries.reset();
        events = before.events + progress.events;
        fillers = before.fillers + progress.fillers;
        bar.update({ ...progress, events }, head);
      });
    });
  } finally {
    bar.stop();
  }
  const seconds = (performance.now() - started) / 1000;
  const rate = Math.round(events / seconds);
  print(
    `log: ${count(events)} events copied, and ${count(fillers)} fillers for removed ones, in ${seconds.toFixed(1)} s, ` +
      `${count(rate)} a second`,
  );
}

async function compareEvents(migration: Migration) {
  const bar = progressBar('comparison');
  try {
    return await compareLogs(migration, (progress, until) => bar.update(progress, until));
  } finally {
    bar.stop();
  }
}

function printNextSteps({ dataDir, 'mongo.database': database }: AnnalsValues): void {
  const secret = join(resolve(dataDir), 'secret');
  print('the migration is complete. Start the servers with these settings:');
  print('  eventStore.url  the address of EventStoreDB');
  print('  mongo.url       the address of MongoDB');
  print(`  mongo.database  ${database}`);
  print(`  secret          ${existsSync(secret) ? `the text in ${secret}` : 'the one that is configured now'}`);
  print(`${resolve(dataDir)} stays as it was; a server without these settings would go on there, apart from the copy`);
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const count = (number: number): string => number.toLocaleString('en');
