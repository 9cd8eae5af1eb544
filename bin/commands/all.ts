/** Lists all commands of the program. */
import type { Listed } from './command.js';

export const commands: readonly Listed[] = [
  { name: 'serve', summary: 'Run services', load: async () => (await import('./serve.js')).serve },
  {
    name: 'engines',
    summary: 'Run only the embedded engines',
    load: async () => (await import('./engines.js')).engines,
  },
  {
    name: 'config',
    summary: 'Show the effective configuration and the source of each value',
    load: async () => (await import('./config.js')).config,
  },
  {
    name: 'doctor',
    summary: 'Check the installation',
    load: async () => (await import('./doctor.js')).doctor,
  },
  {
    name: 'reindex',
    summary: 'Rebuild read models from the log',
    load: async () => (await import('./reindex.js')).reindex,
  },
  { name: 'replay', summary: 'Print the events of the log', load: async () => (await import('./replay.js')).replay },
  { name: 'at', summary: 'Show something as it was at a time', load: async () => (await import('./at.js')).at },
  {
    name: 'audit',
    summary: 'Prove that the log was not changed',
    description:
      'The transparency log is a Merkle tree over the event log with signed checkpoints (RFC 6962, C2SP tlog-tiles). Works on ' +
      'the stores, with or without a running server.',
    commands: [
      {
        name: 'head',
        summary: 'Print the newest checkpoint',
        load: async () => (await import('./audit/head.js')).head,
      },
      {
        name: 'key',
        summary: 'Print the key of the checkpoints',
        load: async () => (await import('./audit/head.js')).key,
      },
      {
        name: 'verify',
        summary: 'Check the log, an export or a proof',
        load: async () => (await import('./audit/verify.js')).verify,
      },
      {
        name: 'prove',
        summary: 'Print a proof that an event is in the log',
        load: async () => (await import('./audit/prove.js')).prove,
      },
      {
        name: 'consistency',
        summary: 'Print a proof that the log extends an older checkpoint',
        load: async () => (await import('./audit/prove.js')).consistency,
      },
      {
        name: 'export',
        summary: 'Write the transparency log as files',
        load: async () => (await import('./audit/export.js')).exportAudit,
      },
      {
        name: 'rotate',
        summary: 'Put a new key in force',
        load: async () => (await import('./audit/maintain.js')).rotate,
      },
      {
        name: 'restart',
        summary: 'Continue after the log was restored from a backup',
        load: async () => (await import('./audit/maintain.js')).restart,
      },
    ],
  },
  {
    name: 'scavenge',
    summary: 'Remove deleted and expired events from the disk',
    load: async () => (await import('./scavenge.js')).scavenge,
  },
  {
    name: 'backup',
    summary: 'Copy the data directory, also of a running server',
    load: async () => (await import('./backup.js')).backup,
  },
  {
    name: 'restore',
    summary: 'Copy a backup to the data directory',
    load: async () => (await import('./restore.js')).restore,
  },
  {
    name: 'migrate',
    summary: 'Copy everything to an EventStoreDB and a MongoDB',
    load: async () => (await import('./migrate/migrate.js')).migrate,
  },
  { name: 'keys', summary: 'Rewrap all keys with a new secret', load: async () => (await import('./keys.js')).keys },
  {
    name: 'erase',
    summary: 'Erase personal data',
    description:
      'Destroys encryption keys: their data becomes unreadable in the log and wherever it is copied without the keys.',
    commands: [
      { name: 'user', summary: 'Erase a user of the chat', load: async () => (await import('./erase.js')).eraseUser },
      {
        name: 'meeting',
        summary: 'Erase the ended meetings of a room',
        load: async () => (await import('./erase.js')).eraseMeeting,
      },
    ],
  },
  {
    name: 'chat',
    summary: 'Export chat data',
    description: 'Works on the stores, with or without a running server.',
    commands: [
      {
        name: 'export',
        summary: 'Export all chat data as JSON',
        load: async () => (await import('./chat-export.js')).exportChat,
      },
    ],
  },
  {
    name: 'logs',
    summary: 'Query, count, tail and import log records',
    description: 'Uses the API of a log service, local or remote.',
    commands: [
      { name: 'query', summary: 'Find log records', load: async () => (await import('./logs/query.js')).query },
      {
        name: 'aggregate',
        summary: 'Count log records by level, event, field, correlation or time',
        load: async () => (await import('./logs/aggregate.js')).aggregate,
      },
      {
        name: 'tail',
        summary: 'Show new log records as they arrive',
        load: async () => (await import('./logs/tail.js')).tail,
      },
      {
        name: 'import',
        summary: 'Send log records from files and pipes',
        load: async () => (await import('./logs/import.js')).importLogs,
      },
    ],
  },
  {
    name: 'analytics',
    summary: 'Import past hits and create demo sites',
    description: 'Works on the stores, with or without a running server.',
    commands: [
      {
        name: 'import',
        summary: 'Import past hits from files',
        load: async () => (await import('./analytics/import.js')).importHits,
      },
      {
        name: 'raw',
        summary: 'Show the stored raw hits of a site',
        load: async () => (await import('./analytics/raw.js')).raw,
      },
      {
        name: 'seed',
        summary: 'Create three demo sites with a year of hits',
        load: async () => (await import('./analytics/seed.js')).seed,
      },
    ],
  },
];
