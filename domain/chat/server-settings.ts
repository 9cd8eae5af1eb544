/** Server settings that admins change at run time: the server name. Stream `chat.settings-main`. */

import { type Decider, type Evolve, fitName, type Rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import { SERVER_NAME } from './events/settings.js';
import { badLength } from './limits.js';

const SERVER_NAME_LENGTH = 80;

export interface ServerState {
  readonly name: string;
}

export interface RenameServer {
  readonly type: 'RenameServer';
  readonly name: string;
  readonly by: string;
  readonly now: number;
}

export type ServerEvent = ChatEvent<'ServerRenamed'>;

const badName = badLength('chat/bad-server-name', 'name', SERVER_NAME_LENGTH);

function decide({ name: rawName, by, now }: RenameServer, state: ServerState): readonly ServerEvent[] | Rejection {
  const name = fitName(rawName, SERVER_NAME_LENGTH);
  if (name === undefined) return badName;
  if (name === state.name) return [];
  return [{ type: 'ServerRenamed', data: { by, renamedAt: now, secret: { name } } }];
}

const evolve: Evolve<ServerState, ServerEvent> = {
  ServerRenamed: (_, { secret: { name } }) => ({ name }),
};

export const server: Decider<ServerState, RenameServer, ServerEvent> = {
  initialState: { name: SERVER_NAME },
  decide,
  evolve,
};
