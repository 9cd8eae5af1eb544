/** `annals erase user`: erases the personal data of a chat user. */
import { Argument } from 'commander';
import { rosterAggregate } from '../../../application/chat/aggregates.js';
import { createEraseUser } from '../../../application/chat/people/erase-user.js';
import { ROSTER, userByEmail } from '../../../domain/chat/roster.js';
import { isRejection, tidyEmail } from '../../../domain/shared/index.js';
import { type Kernel, openKernel } from '../../node/kernel.js';
import { loadServices } from '../../services/all.js';
import type { Call, CommandSpec } from '../command.js';
import { Failed } from '../failure.js';
import { createCommandLogger } from '../logger.js';
import { findStores } from '../stores.js';
import { confirm, yesOption } from './confirm.js';

export const user: CommandSpec = {
  description:
    'Removes a user of the chat, if still present, and destroys the key of their personal data: email, name, password ' +
    'and session addresses become unreadable in the log, in its backups and everywhere else. Their messages stay, by ' +
    '"Deleted user". Works with or without a running server. This can not be undone: it asks for confirmation, unless ' +
    '--yes is given.',
  examples: [
    ['erase user 50A3pRYmCZAMcAL3t1ECtA', 'by the id from GET /users'],
    ['erase user ada@example.org', 'by the email of a current user'],
    ['erase user --yes ada@example.org', 'in a script'],
  ],
  arguments: [new Argument('<id>', 'Id or email; put an id that starts with - last, after --')],
  options: [yesOption],
  async run({ config: { values }, args: [idOrEmail = ''], options }: Call) {
    await confirm(`Erase the user ${idOrEmail}?`, options);
    const logger = createCommandLogger(values);
    const servers = await findStores(values, logger);
    const kernel = await openKernel(servers, values, await loadServices(), logger);
    try {
      const userId = await resolveUserId(kernel, idOrEmail);
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

async function resolveUserId({ streams }: Kernel, idOrEmail: string): Promise<string> {
  if (!idOrEmail.includes('@')) return idOrEmail;
  const { state } = await streams.load(rosterAggregate, ROSTER);
  const user = userByEmail(state, tidyEmail(idOrEmail));
  if (!user) throw new Failed('there is no user with this email');
  return user.id;
}
