/** Use cases on the server settings. */

import { SETTINGS } from '../../../domain/chat/events/settings.js';
import type { ServerState } from '../../../domain/chat/server-settings.js';
import { type CommandOutcome, type CommandResult, resultOf } from '../../command/index.js';
import type { CommandContext, Position } from '../../ports/index.js';
import { serverAggregate } from '../aggregates.js';
import type { ChatPorts } from '../sign-in/authenticate.js';

export type ServerPorts = Pick<ChatPorts, 'handle' | 'clock' | 'admission' | 'vault'>;

export type Server = ReturnType<typeof createServer>;

export function createServer({ handle, vault, admission, clock }: ServerPorts) {
  return {
    async settings(seen?: Position): Promise<CommandResult<ServerState>> {
      const { state, position } = await admission.load(serverAggregate, SETTINGS, seen);
      return { body: { name: state.name }, position };
    },

    /** `by` must be an admin. */
    async rename(name: string, by: string, context: CommandContext): CommandOutcome<ServerState> {
      const command = { type: 'RenameServer' as const, name, by, now: clock.now() };
      const outcome = await handle(serverAggregate, SETTINGS, command, context, () => vault.create(SETTINGS));
      return resultOf(outcome, ({ name }) => ({ name }));
    },
  };
}
