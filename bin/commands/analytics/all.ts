/** `annals analytics`: the commands that work on what is counted of sites. */
import type { Listed } from '../command.js';

export const analyticsCommands: readonly Listed[] = [
  {
    name: 'import',
    summary: 'Count hits that were kept elsewhere',
    load: async () => (await import('./import.js')).importHits,
  },
  {
    name: 'raw',
    summary: 'Show what came to a site lately, where that is kept',
    load: async () => (await import('./raw.js')).raw,
  },
  {
    name: 'seed',
    summary: 'Make three sites with a year of hits, to look at',
    load: async () => (await import('./seed.js')).seed,
  },
];
