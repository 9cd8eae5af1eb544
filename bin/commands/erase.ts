/** `annals erase user` and `annals erase meeting`: erase personal data, after a confirmation on the terminal. */
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { Argument, InvalidArgumentError, Option } from 'commander';
import { ConfigError } from '../../adapters/platform/config/config-error.js';
import { rosterAggregate } from '../../application/chat/aggregates.js';
import { createEraseUser } from '../../application/chat/people/erase-user.js';
import { asEvent, readForward } from '../../application/command/index.js';
import { createEraseMeetings, erasuresOf } from '../../application/meeting/erase-meetings.js';
import type { Position } from '../../application/ports/index.js';
import type { ChatEvent } from '../../domain/chat/catalog.js';
import { ROSTER, userByEmail } from '../../domain/chat/roster.js';
import { roomIdOf } from '../../domain/meeting/room-id.js';
import { isRejection, tidyEmail } from '../../domain/shared/index.js';
import type { Kernel } from '../node/kernel.js';
import { AUDIT_SETTINGS } from '../settings.js';
import type { Call, CommandSpec } from './command.js';
import { Failed } from './failure.js';
import { withKernel } from './stores.js';

const YES_FLAG = '--yes';

const receiptOption = new Option(
  '--receipt <directory>',
  'Write a signed receipt of each erasure there, which "annals audit verify --receipt" checks anywhere',
);

const yesOption = new Option(YES_FLAG, 'Erase without confirmation, for scripts');

export const eraseUser: CommandSpec = {
  description:
    'Removes a user of the chat, if still present, and destroys the key of their personal data: email, name, password ' +
    'and session addresses become unreadable in the log and wherever it is copied. Backups of the keys that were made ' +
    'before still open them: delete those. Their messages stay, by "Deleted user". Works with or without a running ' +
    'server. This cannot be undone: it asks for confirmation, unless --yes is given.',
  examples: [
    ['erase user 50A3pRYmCZAMcAL3t1ECtA', 'by the id from GET /users'],
    ['erase user ada@example.org', 'by the email of a current user'],
    ['erase user --yes ada@example.org', 'in a script'],
    ['erase user --receipt . ada@example.org', 'with a receipt for her'],
    ['erase user --yes --receipt . 50A3pRYmCZAMcAL3t1ECtA', 'the receipt of an earlier erasure, by id'],
  ],
  arguments: [new Argument('<id>', 'Id or email; put an id that starts with - last, after --')],
  options: [yesOption, receiptOption],
  reads: () => AUDIT_SETTINGS,
  async run({ config: { values }, args: [idOrEmail = ''], options }: Call) {
    const directory = await receiptDirectory(options);
    await confirm(`Erase the user ${idOrEmail}?`, options);
    return withKernel(values, async ({ kernel, logger }) => {
      const userId = await resolveUserId(kernel, idOrEmail);
      const outcome = await createEraseUser(kernel)(userId, kernel.systemContext('operator'));
      if (isRejection(outcome)) throw new Failed(outcome.detail ?? outcome.rejected);
      process.stdout.write(`${userId} is erased\n`);
      if (directory !== undefined) {
        const { writeReceipts } = await import('./audit/receipts.js');
        await writeReceipts({ kernel, logger }, values, directory, [
          outcome.position ?? (await erasedAt(kernel, userId)),
        ]);
      }
      return 0;
    });
  },
};

/** Directory of receipts, which is there and can be written to before anything is erased; undefined if none are wanted. */
async function receiptDirectory({ receipt }: Call['options']): Promise<string | undefined> {
  if (typeof receipt !== 'string') return undefined;
  (await import('./audit/receipts.js')).prepareReceipts(receipt);
  return receipt;
}

/** Position of the earlier erasure of a user. */
async function erasedAt({ log }: Kernel, userId: string): Promise<Position> {
  for await (const page of readForward(log, ROSTER)) {
    const erased = page
      .map((event) => asEvent<ChatEvent>(event))
      .find((event) => event.type === 'UserErased' && event.data.userId === userId);
    if (erased) return erased.position;
  }
  throw new Failed('the log has no event of this erasure');
}

async function resolveUserId({ aggregates }: Kernel, idOrEmail: string): Promise<string> {
  if (!idOrEmail.includes('@')) return idOrEmail;
  const { state } = await aggregates.load(rosterAggregate, ROSTER);
  const user = userByEmail(state, tidyEmail(idOrEmail));
  if (!user) throw new Failed('there is no user with this email');
  return user.id;
}

export const eraseMeeting: CommandSpec = {
  description:
    'Destroys the encryption keys of all ended meetings of a room: participants, their names and their messages become ' +
    'unreadable in the log and wherever it is copied. Backups of the keys that were made before still open them: delete ' +
    'those. A running meeting is not affected. Works with or without a running server. This cannot be undone: it asks ' +
    'for confirmation, unless --yes is given.',
  examples: [
    ['erase meeting ABC234', 'by the id of the room'],
    ['erase meeting --yes ABC234', 'in a script'],
  ],
  arguments: [new Argument('<roomId>', 'Id of the room').argParser(parseRoomId)],
  options: [yesOption, receiptOption],
  reads: () => AUDIT_SETTINGS,
  async run({ config: { values }, args: [roomIdText = ''], options }: Call) {
    const roomId = parseRoomId(roomIdText);
    const directory = await receiptDirectory(options);
    await confirm(`Erase all ended meetings of ${roomId}?`, options);
    return withKernel(values, async ({ kernel, logger }) => {
      const erased = await createEraseMeetings(kernel)(roomId, () => kernel.systemContext('operator'));
      if (isRejection(erased)) throw new Failed(erased.detail ?? erased.rejected);
      const count = erased.length;
      process.stdout.write(`${count} ${count === 1 ? 'meeting' : 'meetings'} of ${roomId} erased\n`);
      if (directory !== undefined) {
        const { writeReceipts } = await import('./audit/receipts.js');
        // Also for those of an earlier run, whose receipts may be missing.
        const earlier = await erasuresOf(kernel, roomId);
        await writeReceipts({ kernel, logger }, values, directory, [...new Set([...erased, ...earlier])]);
      }
      return 0;
    });
  },
};

function parseRoomId(text: string): string {
  const roomId = roomIdOf(text);
  if (roomId) return roomId;
  throw new InvalidArgumentError('A room id is six characters of A-Z and 0-9.');
}

export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
}

/** Resolves when the question is answered with yes, or with `--yes`. Rejects otherwise, and without a terminal. */
export async function confirm(
  question: string,
  options: Call['options'],
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  if (options.yes) return;
  if (!input.isTTY) throw new ConfigError(YES_FLAG, 'is required without a terminal to ask for confirmation');
  const answer = await ask(`${question} This cannot be undone. [y/N] `, { input, output });
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new Failed('nothing was erased');
}

/** Reads one line; empty if the input ends or is interrupted before. */
async function ask(question: string, terminal: Terminal): Promise<string> {
  const readline = createInterface(terminal);
  readline.setPrompt(question);
  readline.prompt();
  for await (const line of readline) return line;
  return '';
}
