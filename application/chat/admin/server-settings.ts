/** The settings of the server that admins change while it runs. */
import { SETTINGS_SUBJECT } from '../../../domain/chat/events/settings.js';
import { SETTINGS, type ServerState } from '../../../domain/chat/server-settings.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import type { Handle } from '../../command/handle-command.js';
import type { Clock, CommandContext, Position, Vault } from '../../ports/index.js';
import { serverKind } from '../aggregates.js';
import type { ChatAdmission } from '../sign-in/authenticate.js';
import type { Done } from '../sign-in/sessions.js';

export interface ServerPorts {
  readonly handle: Handle;
  readonly vault: Pick<Vault, 'create'>;
  readonly admission: ChatAdmission;
  readonly clock: Clock;
}

export type Server = ReturnType<typeof createServer>;

export function createServer({ handle, vault, admission, clock }: ServerPorts) {
  async function before() {
    await vault.create(SETTINGS_SUBJECT);
    return undefined;
  }

  return {
    async settings(seen?: Position): Promise<Done<ServerState>> {
      const { state, position } = await admission.load(serverKind, SETTINGS, seen);
      return { body: { name: state.name }, position };
    },

    /** `by` is an admin. */
    async rename(name: string, by: string, context: CommandContext): Promise<Done<ServerState> | Rejection> {
      const command = { type: 'RenameServer' as const, name, by, now: clock.now() };
      const outcome = await handle(serverKind, SETTINGS, command, context, before);
      if (isRejection(outcome)) return outcome;
      return { body: { name: (await outcome.state()).name }, position: outcome.position };
    },
  };
}
