/** Commands of the chat service. */
import type { Listed } from '../command.js';

export const chatCommands: readonly Listed[] = [
  {
    name: 'export',
    summary: 'Export all chat data as JSON',
    load: async () => (await import('./export.js')).exportChat,
  },
];
