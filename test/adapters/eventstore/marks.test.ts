/** What is noted at the store: of a store that does not answer nobody says that nothing was. */
import { expect } from 'chai';
import { connectEventStore } from '../../../adapters/eventstore/client.js';
import { createInTime } from '../../../adapters/eventstore/in-time.js';
import { markOf } from '../../../adapters/eventstore/marks.js';
import { Unavailable } from '../../../application/ports.js';
import { quiet } from '../../support/engines.js';
import { rejection } from '../../support/eventstore-client.js';

describe('what is noted at an event store that is away', () => {
  it('is not known, which is not to say that there was nothing', async () => {
    const client = connectEventStore('esdb://127.0.0.1:1?tls=false');
    try {
      const mark = markOf(client, createInTime(quiet), 'toys.time');
      expect(await rejection(mark.read())).to.be.instanceOf(Unavailable);
    } finally {
      await client.dispose();
    }
  });
});
