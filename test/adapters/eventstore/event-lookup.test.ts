/** Events at positions of the store, as the transparency log looks them up. */
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { connectEventStore, type FastClient } from '../../../adapters/eventstore/client.js';
import { jsonEvent } from '../../../adapters/eventstore/driver.js';
import { createEventLookup } from '../../../adapters/eventstore/event-log.js';

describe('the event at a position', function () {
  this.timeout(60_000);
  let servers: Servers;
  let client: FastClient;
  before(async () => {
    servers = await startServers();
    client = connectEventStore(servers.eventStoreUrl);
  });
  after(async () => {
    await client?.dispose();
    await servers?.stop();
  });

  const append = async () => {
    const data = { text: 'long enough that a position inside of it is that of no event' };
    const { position } = await client.appendToStream('zoo.lookup', [jsonEvent({ type: 'zoo.Fed.v1', data })]);
    return position!.commit;
  };

  it('is found, or known to have never been one, or not there yet', async () => {
    const [first, second] = [await append(), await append()];
    const eventAt = createEventLookup(client);
    expect((await eventAt(first)).event?.revision).to.equal(0n);
    const last = await eventAt(second);
    expect(last.event?.position).to.equal(second);
    // A server may append events of its own meanwhile.
    expect(last.head >= second).to.equal(true);
    expect(await eventAt(first + 1n)).to.include({ isRefused: true });
    expect(await eventAt(2n ** 40n)).to.have.all.keys('head');
  });
});
