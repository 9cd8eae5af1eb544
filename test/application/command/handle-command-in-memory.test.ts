/** The same as on the servers, in memory: the rules of the road are found wanting within milliseconds. */

import { rememberingStreams } from './aggregate-store-suite.js';
import { handlingCommands } from './handle-command-suite.js';
import { recallingCommands } from './idempotency-suite.js';
import { whileTheLogIsAway } from './outage-suite.js';
import { inMemory } from './two-nodes.js';

describe('in memory, handling a command', () => handlingCommands(inMemory));
describe('in memory, a log that does not answer', () => whileTheLogIsAway(inMemory));
describe('in memory, remembered streams', () => rememberingStreams(inMemory));
describe('in memory, commands with a key', () => recallingCommands(inMemory));
