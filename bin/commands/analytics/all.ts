/** `annals analytics`: commands on the stores of the analytics service. */
import type { Listed } from '../command.js';

export const analyticsCommands: readonly Listed[] = [
  {
    name: 'import',
    summary: 'Import past hits from files',
    load: async () => (await import('./import.js')).importHits,
  },
  {
    name: 'raw',
    summary: 'Show the stored raw hits of a site',
    load: async () => (await import('./raw.js')).raw,
  },
  {
    name: 'seed',
    summary: 'Create three demo sites with a year of hits',
    load: async () => (await import('./seed.js')).seed,
  },
];
