/** Lists all commands of the program. */
import { analyticsCommands } from './analytics/all.js';
import { chatCommands } from './chat/all.js';
import type { Listed } from './command.js';
import { eraseCommands } from './erase/all.js';
import { logsCommands } from './logs/all.js';

export const commands: readonly Listed[] = [
  {
    name: 'serve',
    summary: 'Run services',
    load: async () => (await import('./serve.js')).serve,
  },
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
    name: 'reindex',
    summary: 'Rebuild read models from the log',
    load: async () => (await import('./reindex.js')).reindex,
  },
  {
    name: 'replay',
    summary: 'Print the events of the log',
    load: async () => (await import('./replay.js')).replay,
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
    name: 'keys',
    summary: 'Rewrap all keys with a new secret',
    load: async () => (await import('./keys.js')).keys,
  },
  {
    name: 'erase',
    summary: 'Erase personal data',
    description:
      'Destroys encryption keys: their data becomes unreadable in the log, in its backups and everywhere else.',
    commands: eraseCommands,
  },
  {
    name: 'chat',
    summary: 'Export chat data',
    description: 'Works on the stores, with or without a running server.',
    commands: chatCommands,
  },
  {
    name: 'logs',
    summary: 'Query, count, tail and import log records',
    description: 'Uses the API of a log service, local or remote.',
    commands: logsCommands,
  },
  {
    name: 'analytics',
    summary: 'Import past hits and create demo sites',
    description: 'Works on the stores, with or without a running server.',
    commands: analyticsCommands,
  },
];
