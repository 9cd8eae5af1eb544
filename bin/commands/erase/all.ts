/** Commands that erase personal data. */
import type { Listed } from '../command.js';

export const eraseCommands: readonly Listed[] = [
  {
    name: 'user',
    summary: 'Erase a user of the chat',
    load: async () => (await import('./user.js')).user,
  },
  {
    name: 'meeting',
    summary: 'Erase the ended meetings of a room',
    load: async () => (await import('./meeting.js')).meeting,
  },
];
