/** The suites of the command handler in memory, where violations show within milliseconds. */

import { rememberingStreams } from './aggregate-store-suite.js';
import { handlingCommands } from './handle-command-suite.js';
import { recallingCommands } from './idempotency-suite.js';
import { whileTheLogIsAway } from './outage-suite.js';
import { inMemory } from './two-nodes.js';

describe('in memory, handling a command', () => handlingCommands(inMemory));
describe('in memory, an event log outage', () => whileTheLogIsAway(inMemory));
describe('in memory, the aggregate store', () => rememberingStreams(inMemory));
describe('in memory, idempotency keys', () => recallingCommands(inMemory));
