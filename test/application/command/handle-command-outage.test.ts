/** Commands while the servers do not answer. */
import { whileTheLogIsAway } from './outage-suite.js';
import { onServers } from './two-nodes.js';

describe('an event log outage', () => whileTheLogIsAway(onServers));
