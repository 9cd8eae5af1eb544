/** What is noted at the store: of a store that does not answer nobody says that nothing was. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import { createAppendDeadline } from '../../../adapters/eventstore/append-deadline.js';
import { connectEventStore } from '../../../adapters/eventstore/client.js';
import { timestampRegister } from '../../../adapters/eventstore/timestamp-register.js';
import { UnavailableError } from '../../../application/ports/index.js';

describe('what is noted at an event store that is away', () => {
  it('is not known, which is not to say that there was nothing', async () => {
    const client = connectEventStore('esdb://127.0.0.1:1?tls=false');
    try {
      const mark = timestampRegister(client, createAppendDeadline(silentLogger), 'toys.time');
      expect(await rejection(mark.read())).to.be.instanceOf(UnavailableError);
    } finally {
      await client.dispose();
    }
  });
});
