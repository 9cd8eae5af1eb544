/** The commands of the chat. */
import type { Listed } from '../command.js';

export const chatCommands: readonly Listed[] = [
  {
    name: 'export',
    summary: 'Write all that the chat holds as JSON',
    load: async () => (await import('./export.js')).exportChat,
  },
];
