/** Whom the event store's driver asks: the leader, whatever the configured address says. */
import { expect } from 'chai';
import { connectEventStore, toLeader } from '../../../adapters/eventstore/client.js';

describe('the connection to the event store', () => {
  it('is to the leader, which knows all that was acknowledged', async () => {
    for (const key of ['nodePreference', 'nodepreference'])
      for (const preference of ['follower', 'random', 'read_only_replica', 'leader'])
        expect(toLeader(`esdb://u:p@a:1,b:2?tls=false&${key}=${preference}&maxDiscoverAttempts=3`)).to.equal(
          `esdb://u:p@a:1,b:2?tls=false&${key}=leader&maxDiscoverAttempts=3`,
        );
    expect(toLeader('esdb://a:1?tls=false')).to.equal('esdb://a:1?tls=false');
    await connectEventStore('esdb://127.0.0.1:1?nodePreference=follower&tls=false').dispose();
  });
});
