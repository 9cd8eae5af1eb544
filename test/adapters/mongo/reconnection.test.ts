/** The MongoDB client after network failures that close all of its connections together. */
import type { Socket } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { connectMongo, type Mongo } from '../../../adapters/mongo/client.js';
import { startProxy, type TcpProxy } from '../../support/tcp-proxy.js';

/** What the driver keeps to itself. */
interface DriverClient {
  readonly topology: { readonly s: { readonly servers: ReadonlyMap<string, DriverServer> } };
}

interface DriverServer {
  readonly monitor: {
    readonly connection: { readonly socket: Socket } | null;
    readonly monitorId: { readonly lastExecutionEnded: number };
  };
  requestCheck(): void;
}

describe('the MongoDB client', function () {
  this.timeout(120_000);
  let servers: Servers;
  let proxy: TcpProxy;
  let mongo: Mongo;
  before(async () => {
    servers = await startServers();
    proxy = await startProxy(servers.mongoUrl);
    mongo = await connectMongo(proxy.url, 'annals');
  });
  after(async () => {
    await mongo?.close();
    await proxy?.close();
    await servers?.stop();
  });

  it('checks its server again after a check on a connection that was just closed', async () => {
    const [server] = (mongo.models.client as unknown as DriverClient).topology.s.servers.values();
    const { monitor } = server!;
    await eventually(() => monitor.connection !== null);
    const { connection } = monitor;
    // The driver delays checks that follow the last one within half a second.
    await eventually(() => performance.now() - monitor.monitorId.lastExecutionEnded > 600);
    connection!.socket.destroy();
    server!.requestCheck();
    await eventually(() => {
      server!.requestCheck();
      return monitor.connection !== null && monitor.connection !== connection;
    });
    await mongo.ping();
  });

  it('connects again each time all its connections are closed', async () => {
    const isAnswered = () =>
      mongo.ping().then(
        () => true,
        () => false,
      );
    for (let round = 0; round < 15; round++) {
      // Several connections, so that the failure of one makes the driver check its server while the others fail.
      await Promise.all(Array.from({ length: 8 }, isAnswered));
      proxy.interrupt();
      await isAnswered();
      proxy.restore();
      await eventually(isAnswered);
    }
  });
});
