/** The driver's connection: always to the leader, and how it closes. */
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import { expect } from 'chai';
import { connectEventStore, preferLeader } from '../../../adapters/eventstore/client.js';

describe('the event store connection', () => {
  it('is to the leader, which has everything acknowledged', async () => {
    for (const key of ['nodePreference', 'nodepreference'])
      for (const preference of ['follower', 'random', 'read_only_replica', 'leader'])
        expect(preferLeader(`esdb://u:p@a:1,b:2?tls=false&${key}=${preference}&maxDiscoverAttempts=3`)).to.equal(
          `esdb://u:p@a:1,b:2?tls=false&${key}=leader&maxDiscoverAttempts=3`,
        );
    expect(preferLeader('esdb://a:1?tls=false')).to.equal('esdb://a:1?tls=false');
    await connectEventStore('esdb://127.0.0.1:1?nodePreference=follower&tls=false').dispose();
  });

  it('is closed on dispose', async () => {
    const server = createServer();
    const unimplemented = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' };
    server.on('stream', (stream) => stream.respond(unimplemented, { endStream: true }));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const closed = once(server, 'session').then(([session]) => once(session, 'close'));
    const { port } = server.address() as AddressInfo;
    const client = connectEventStore(`esdb://127.0.0.1:${port}?tls=false`);
    expect(await client.getStreamMetadata('toys.box-1').catch(() => 'refused')).to.equal('refused');
    await client.dispose();
    await closed;
    server.close();
  });

  it('is closed although one of its calls never ends', async () => {
    const client = connectEventStore('esdb://127.0.0.1:1?tls=false');
    const endless = new Duplex({ destroy() {} });
    (client as unknown as { disposableStreams: Set<Duplex> }).disposableStreams.add(endless);
    await client.dispose();
    expect(endless.destroyed).to.equal(true);
  });
});
