/** Commands while the servers do not answer. */
import { whileTheLogIsAway } from './away.js';
import { onServers } from './road.js';

describe('a log that does not answer', () => whileTheLogIsAway(onServers));
