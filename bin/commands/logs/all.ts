/** `annals logs`: commands that use the API of a running log service. */
import type { Listed } from '../command.js';

export const logsCommands: readonly Listed[] = [
  {
    name: 'query',
    summary: 'Find log records',
    load: async () => (await import('./query.js')).query,
  },
  {
    name: 'aggregate',
    summary: 'Count log records by level, event, field, correlation or time',
    load: async () => (await import('./aggregate.js')).aggregate,
  },
  {
    name: 'tail',
    summary: 'Show new log records as they arrive',
    load: async () => (await import('./tail.js')).tail,
  },
  {
    name: 'import',
    summary: 'Send log records from files and pipes',
    load: async () => (await import('./import.js')).importLogs,
  },
];
