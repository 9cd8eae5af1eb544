/** `annals erase user`: nobody can read any more who a user of the chat was. */
import { Argument } from 'commander';
import { rosterAggregate } from '../../../application/chat/aggregates.js';
import { createEraseUser } from '../../../application/chat/people/erase-user.js';
import { tidyEmail } from '../../../domain/chat/names.js';
import { ROSTER, userOf } from '../../../domain/chat/roster.js';
import { isRejection } from '../../../domain/shared/index.js';
import { type Kernel, openKernel } from '../../node/kernel.js';
import { services } from '../../services/all.js';
import type { Call, CommandSpec } from '../command.js';
import { Failed } from '../failure.js';
import { createCommandLogger } from '../logger.js';
import { findStores } from '../stores.js';
import { confirm, yesOption } from './confirm.js';

export const user: CommandSpec = {
  description:
    'Removes a user of the chat, if they are there, and destroys the key of all that tells who they are: their email, ' +
    'name, password, and the addresses of their sessions, in the log, its backups and everywhere. Their messages stay, ' +
    'by "Deleted user". Works beside a running server, and without one. There is no way back: it asks before, unless ' +
    '--yes is given.',
  examples: [
    ['erase user 50A3pRYmCZAMcAL3t1ECtA', 'by the id that GET /users shows'],
    ['erase user ada@example.org', 'by the email of somebody who is there'],
    ['erase user --yes ada@example.org', 'in a script'],
  ],
  arguments: [new Argument('<id>', 'Id, or email; an id that begins with - comes last, behind --')],
  options: [yesOption],
  async run({ config: { values }, args: [whom = ''], options }: Call) {
    await confirm(`Erase the user ${whom}?`, options);
    const logger = createCommandLogger(values);
    const servers = await findStores(values, logger);
    const kernel = await openKernel(servers, values, services, logger);
    try {
      const userId = await idOf(kernel, whom);
      const outcome = await createEraseUser(kernel)(userId, kernel.systemContext('operator'));
      if (isRejection(outcome)) throw new Failed(outcome.detail ?? outcome.rejected);
      process.stdout.write(`${userId} is erased\n`);
      return 0;
    } finally {
      await kernel.close();
      await servers.stop();
    }
  },
};

async function idOf({ streams }: Kernel, whom: string): Promise<string> {
  if (!whom.includes('@')) return whom;
  const { state } = await streams.load(rosterAggregate, ROSTER);
  const found = userOf(state, tidyEmail(whom));
  if (!found) throw new Failed('there is no user of this email');
  return found.id;
}
