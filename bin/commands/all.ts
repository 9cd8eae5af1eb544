/** All commands of the program. */
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
    summary: 'Run the embedded engines alone',
    load: async () => (await import('./engines.js')).engines,
  },
  {
    name: 'config',
    summary: 'Show the effective configuration and where each value came from',
    load: async () => (await import('./config.js')).config,
  },
  {
    name: 'reindex',
    summary: 'Rebuild read models from the log',
    load: async () => (await import('./reindex.js')).reindex,
  },
  {
    name: 'replay',
    summary: 'Read the events of the log',
    load: async () => (await import('./replay.js')).replay,
  },
  {
    name: 'scavenge',
    summary: 'Take deleted and expired events off the disk',
    load: async () => (await import('./scavenge.js')).scavenge,
  },
  {
    name: 'backup',
    summary: 'Copy the data directory, also of a running server',
    load: async () => (await import('./backup.js')).backup,
  },
  {
    name: 'keys',
    summary: 'Wrap all keys anew under another secret',
    load: async () => (await import('./keys.js')).keys,
  },
  {
    name: 'erase',
    summary: 'Make unreadable for ever what is about a person',
    description: 'Destroys keys: what they sealed is gone, in the log, its backups and everywhere.',
    commands: eraseCommands,
  },
  {
    name: 'chat',
    summary: 'Take all out that the chat holds',
    description: 'Talks to the stores, beside a running server or without one.',
    commands: chatCommands,
  },
  {
    name: 'logs',
    summary: 'Query, count, watch and import log records',
    description: 'Talks to the log service over its API, here or elsewhere.',
    commands: logsCommands,
  },
  {
    name: 'analytics',
    summary: 'Count hits of the past, and make sites to look at',
    description: 'Talks to the stores, beside a running server or without one.',
    commands: analyticsCommands,
  },
];
