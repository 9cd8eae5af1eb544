/** The same as on the servers, in memory: the rules of the road are found wanting within milliseconds. */
import { whileTheLogIsAway } from './away.js';
import { handlingCommands } from './handling.js';
import { recallingCommands } from './recalling.js';
import { rememberingStreams } from './remembering.js';
import { inMemory } from './road.js';

describe('in memory, handling a command', () => handlingCommands(inMemory));
describe('in memory, a log that does not answer', () => whileTheLogIsAway(inMemory));
describe('in memory, remembered streams', () => rememberingStreams(inMemory));
describe('in memory, commands with a key', () => recallingCommands(inMemory));
