/** The commands that erase what is about people. */
import type { Listed } from '../command.js';

export const eraseCommands: readonly Listed[] = [
  {
    name: 'user',
    summary: 'Make a user of the chat unreadable for ever',
    load: async () => (await import('./user.js')).user,
  },
  {
    name: 'meeting',
    summary: 'Make the meetings of a room that are over unreadable for ever',
    load: async () => (await import('./meeting.js')).meeting,
  },
];
