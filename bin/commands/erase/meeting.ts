/** `annals erase meeting`: erases participants and chat of the ended meetings of a room. */
import { Argument, InvalidArgumentError } from 'commander';
import { createEraseMeetings } from '../../../application/meeting/erase-meetings.js';
import { roomIdOf } from '../../../domain/meeting/room-id.js';
import { isRejection } from '../../../domain/shared/index.js';
import { openKernel } from '../../node/kernel.js';
import { loadServices } from '../../services/all.js';
import type { Call, CommandSpec } from '../command.js';
import { Failed } from '../failure.js';
import { createCommandLogger } from '../logger.js';
import { findStores } from '../stores.js';
import { confirm, yesOption } from './confirm.js';

export const meeting: CommandSpec = {
  description:
    'Destroys the encryption keys of all ended meetings of a room: participants, their names and their messages become ' +
    'unreadable in the log, in its backups and everywhere else. A running meeting is not affected. Works with or ' +
    'without a running server. This can not be undone: it asks for confirmation, unless --yes is given.',
  examples: [
    ['erase meeting ABC234', 'by the id of the room'],
    ['erase meeting --yes ABC234', 'in a script'],
  ],
  arguments: [new Argument('<roomId>', 'Id of the room').argParser(parseRoomId)],
  options: [yesOption],
  async run({ config: { values }, args: [roomIdText = ''], options }: Call) {
    const roomId = parseRoomId(roomIdText);
    await confirm(`Erase all ended meetings of ${roomId}?`, options);
    const logger = createCommandLogger(values);
    const servers = await findStores(values, logger);
    const kernel = await openKernel(servers, values, await loadServices(), logger);
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

function parseRoomId(text: string): string {
  const roomId = roomIdOf(text);
  if (roomId) return roomId;
  throw new InvalidArgumentError('A room id is six characters of A-Z and 0-9.');
}
