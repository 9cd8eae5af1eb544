/** The commands that erase what is about a person. */
import type { Listed } from '../command.js';

export const eraseCommands: readonly Listed[] = [
  {
    name: 'user',
    summary: 'Make a user of the chat unreadable for ever',
    load: async () => (await import('./user.js')).user,
  },
];
