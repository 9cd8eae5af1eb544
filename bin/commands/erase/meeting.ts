/** `annals erase meeting`: nobody can read any more who was in the meetings of a room, and what was said there. */
import { Argument, InvalidArgumentError } from 'commander';
import { createEraseMeetings } from '../../../application/meeting/erase-meetings.js';
import { roomIdOf } from '../../../domain/meeting/room-id.js';
import { isRejection } from '../../../domain/shared/index.js';
import { openKernel } from '../../node/kernel.js';
import { services } from '../../services/all.js';
import type { Call, CommandSpec } from '../command.js';
import { Failed } from '../failure.js';
import { createCommandLogger } from '../logger.js';
import { findStores } from '../stores.js';
import { confirm, yesOption } from './confirm.js';

export const meeting: CommandSpec = {
  description:
    'Destroys the keys of all meetings of a room that are over: who was there, what they were called and what was said, ' +
    'in the log, its backups and everywhere. A meeting that goes on is left alone. Works beside a running server, and ' +
    'without one. There is no way back: it asks before, unless --yes is given.',
  examples: [
    ['erase meeting ABC234', 'by the id of the room'],
    ['erase meeting --yes ABC234', 'in a script'],
  ],
  arguments: [new Argument('<roomId>', 'Id of the room').argParser(checkedRoomId)],
  options: [yesOption],
  async run({ config: { values }, args: [given = ''], options }: Call) {
    const roomId = checkedRoomId(given);
    await confirm(`Erase all meetings of ${roomId} that are over?`, options);
    const logger = createCommandLogger(values);
    const servers = await findStores(values, logger);
    const kernel = await openKernel(servers, values, services, logger);
    try {
      const erased = await createEraseMeetings(kernel)(roomId, () => kernel.systemContext('operator'));
      if (isRejection(erased)) throw new Failed(erased.detail ?? erased.rejected);
      process.stdout.write(`${erased} ${erased === 1 ? 'meeting' : 'meetings'} of ${roomId} erased\n`);
      return 0;
    } finally {
      await kernel.close();
      await servers.stop();
    }
  },
};

function checkedRoomId(text: string): string {
  const roomId = roomIdOf(text);
  if (roomId) return roomId;
  throw new InvalidArgumentError('The id of a room is six of A-Z and 0-9.');
}
