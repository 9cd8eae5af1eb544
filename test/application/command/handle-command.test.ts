/** The command handler on the servers. */
import { handlingCommands } from './handle-command-suite.js';
import { onServers } from './two-nodes.js';

describe('handling a command', () => handlingCommands(onServers));
