/** `annals doctor`: checks the installation and says what to do about each finding. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { maxConnections } from '../../adapters/http/hardening/connection-limits.js';
import type { Position, Selection, Subscribe } from '../../application/ports/index.js';
import { newestBackup } from '../node/scheduled-backups.js';
import { type AnnalsValues, AUDIT_SETTINGS } from '../settings.js';
import type { Call, CommandSpec } from './command.js';
import { outsideCause } from './failure.js';
import { table } from './output.js';
import { type Tools, withKernel } from './stores.js';

interface Finding {
  /** Errors need action, warnings should be looked at. */
  readonly level: 'ok' | 'warning' | 'ERROR';
  readonly subject: string;
  /** What was found and, unless it is ok, what to do. */
  readonly text: string;
}

const finding = (level: Finding['level'], subject: string, text: string): Finding => ({ level, subject, text });

export const doctor: CommandSpec = {
  description:
    'Checks the installation: open files, disk, stores, clock, read models and their lag, transparency log, secret, ' +
    'backups and mail, with or without a running server. Changes no data. Exit code 1 if there is an error.',
  examples: [
    ['doctor', 'check the installation in ./data'],
    ['doctor --data-dir /var/lib/annals && echo fine', 'in a script'],
  ],
  reads: () => [
    ...AUDIT_SETTINGS,
    'audit.enabled',
    'server.connections',
    'backup.directory',
    'backup.everyHours',
    'email.host',
  ],
  async run({ config: { values } }: Call) {
    const findings = [
      openFiles(values),
      await disk(values),
      ...(await stores(values)),
      secret(values),
      backups(values),
      mail(values),
    ];
    const rows = findings.map(({ level, subject, text }) => [level, subject, text]);
    process.stdout.write(table([['LEVEL', 'CHECK', 'FINDING'], ...rows]));
    return findings.some(({ level }) => level === 'ERROR') ? 1 : 0;
  },
};

function openFiles({ 'server.connections': requested }: AnnalsValues): Finding {
  const possible = maxConnections(requested);
  return possible < requested
    ? finding(
        'warning',
        'open files',
        `enough for ${possible} of ${requested} connections; raise the limit (ulimit -n)`,
      )
    : finding('ok', 'open files', `enough for ${requested} connections`);
}

/** Free space, in GB, below which this is an error. */
const LITTLE_DISK_GB = 1;

async function disk({ dataDir }: AnnalsValues): Promise<Finding> {
  const path = resolve(dataDir);
  let existing = path;
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = await statfs(existing);
  const free = (bavail * bsize) / 1e9;
  const text = `${free.toFixed(1)} GB free at ${path}`;
  return free < LITTLE_DISK_GB
    ? finding('ERROR', 'disk', `${text}; free some, or see "annals scavenge"`)
    : finding('ok', 'disk', text);
}

async function stores(values: AnnalsValues): Promise<readonly Finding[]> {
  try {
    return await withKernel(values, async (tools) => {
      const { kernel } = tools;
      await kernel.head();
      await Promise.all([kernel.log.writable(), kernel.mongo.writable()]);
      const log = await transparencyLog(tools, values);
      const answering = values['eventStore.url'] ? await versions(kernel) : 'embedded engines';
      return [finding('ok', 'stores', `${answering} answer`), await clock(tools), await readModels(tools), log];
    });
  } catch (error) {
    const cause = outsideCause(error);
    if (cause === undefined) throw error;
    return [finding('ERROR', 'stores', cause)];
  }
}

async function versions({ client, mongo }: Tools['kernel']): Promise<string> {
  const [eventStore, mongoVersion] = await Promise.all([client.serverVersion(), mongo.serverVersion()]);
  return `EventStoreDB ${eventStore} and MongoDB ${mongoVersion}`;
}

async function clock({ kernel }: Tools): Promise<Finding> {
  await kernel.clock.compare();
  const seconds = ((kernel.clock.skewMs() ?? 0) / 1000).toFixed(1);
  const text = `${seconds} s ahead of the event store's`;
  return kernel.clock.inSync()
    ? finding('ok', 'clock', text)
    : finding('ERROR', 'clock', `${text}; set the clocks right: nothing expires until then`);
}

async function readModels({ kernel, services }: Tools): Promise<Finding> {
  const { selectionOf } = await import('../../projections/kernel/index.js');
  const all = services.flatMap(({ projections }) => projections);
  const missing: string[] = [];
  const late: string[] = [];
  for (const model of all) {
    const { state } = await kernel.lifecycle.current(model);
    if (state?.version !== model.version) {
      missing.push(model.name);
      continue;
    }
    const position = await kernel.checkpoints.read(state.collection);
    const seconds = await lagSeconds(kernel.follow, selectionOf(model), position);
    if (seconds > LATE_SECONDS) late.push(`${model.name} ${showLag(seconds)}`);
  }
  const built = missing.length === 0 ? '' : `built at the next start of their service: ${missing.join(', ')}`;
  const behind = late.length === 0 ? '' : `behind the log (is a server running?): ${late.join(', ')}`;
  return built || behind
    ? finding('warning', 'read models', [behind, built].filter(Boolean).join('; '))
    : finding('ok', 'read models', `all ${all.length} are built and up to date`);
}

/** A lag, in seconds, that readers notice; the transparency log is written once a minute. */
const LATE_SECONDS = 90;

async function transparencyLog({ kernel, logger }: Tools, values: AnnalsValues): Promise<Finding> {
  const subject = 'transparency log';
  if (!values['audit.enabled'])
    return finding('warning', subject, 'off; set audit.enabled to prove what the log holds');
  const { auditPorts } = await import('../node/audit.js');
  const { checkLastEvent, LogMismatchError, parseCheckpoint, publishedCheckpoint } = await import(
    '../../application/audit/index.js'
  );
  const ports = auditPorts(kernel, values, logger);
  const { store, followStored, prefixes, witnesses } = ports;
  try {
    await checkLastEvent(ports);
  } catch (error) {
    if (error instanceof LogMismatchError) return finding('ERROR', subject, error.message);
    throw error;
  }
  const head = await store.head();
  const seconds = await lagSeconds(followStored, { prefixes }, head?.position);
  if (seconds > LATE_SECONDS)
    return finding(
      'warning',
      subject,
      `behind the log ${showLag(seconds)}; is a server running? See "annals audit verify"`,
    );
  const { size = 0 } = parseCheckpoint((head && publishedCheckpoint(head, witnesses)) ?? '') ?? {};
  return size < (head?.size ?? 0)
    ? finding('warning', subject, `witnesses cosigned ${size} of ${head?.size} entries; the server logs say why`)
    : finding('ok', subject, `${head?.size ?? 0} entries, up to date`);
}

/** Milliseconds to find what comes after a position: a store refuses one that its log does not have. */
const LAG_MS = 10_000;

/**
 * Returns the age, in seconds, of the oldest event that is not included up to this position; 0 if all are, infinity if
 * the log does not have the position, as after restoring only one of the stores.
 */
async function lagSeconds(
  follow: Subscribe<{ readonly recordedAt: number }>,
  selection: Selection,
  position: Position = 0n,
): Promise<number> {
  const signal = AbortSignal.timeout(LAG_MS);
  for await (const { events, caughtUp } of follow({
    ...selection,
    from: position === 0n ? 'start' : position,
    signal,
  })) {
    if (events[0]) return Math.max(0, Date.now() - events[0].recordedAt) / 1000;
    if (caughtUp) return 0;
  }
  return Number.POSITIVE_INFINITY;
}

const showLag = (seconds: number) =>
  Number.isFinite(seconds) ? `by ${seconds.toFixed(0)} s` : '(their positions differ)';

function secret(values: AnnalsValues): Finding {
  if (values.secret) return finding('ok', 'secret', 'configured; keep a copy apart from the backups');
  return values['mongo.url']
    ? finding('warning', 'secret', 'stored next to the keys it wraps; set secret and run "annals keys rotate"')
    : finding('ok', 'secret', 'generated, in the data directory and its backups');
}

const HOUR_MS = 3_600_000;

function backups(values: AnnalsValues): Finding {
  const { 'backup.directory': directory, 'backup.everyHours': every } = values;
  if (values['eventStore.url']) return finding('ok', 'backups', 'left to the tools of the configured servers');
  if (directory === undefined)
    return finding('warning', 'backups', 'none are scheduled; set backup.directory, or run "annals backup" by cron');
  const newest = existsSync(directory) ? newestBackup(directory) : undefined;
  const hours = newest === undefined ? Number.POSITIVE_INFINITY : (Date.now() - newest) / HOUR_MS;
  if (hours <= 2 * every) return finding('ok', 'backups', `the newest is ${hours.toFixed(0)} hours old`);
  const age = newest === undefined ? 'there is none' : `the newest is ${hours.toFixed(0)} hours old`;
  return finding('ERROR', 'backups', `${age} in ${directory}; look for "scheduled backup failed" in the log`);
}

const mail = (values: AnnalsValues): Finding =>
  values['email.host']
    ? finding('ok', 'mail', `sent by ${values['email.host']}`)
    : finding('warning', 'mail', 'not sent: sign-in links, invites and reports need email.host');
