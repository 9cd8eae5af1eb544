/** Commands on the road to the log, on the servers. */
import { handlingCommands } from './handling.js';
import { onServers } from './road.js';

describe('handling a command', () => handlingCommands(onServers));
