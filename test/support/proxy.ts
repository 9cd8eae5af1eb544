/** A TCP proxy in front of a server, that cuts connections at the worst moments. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  readonly port: number;
  /**
   * From now on every connection is cut whose client sends any of these texts: the server has got it, its answer
   * is lost. Nothing at all cuts nothing.
   */
  cutAfter(...texts: readonly string[]): void;
  /** Cuts all connections, and every new one at once, until `restore`. */
  interrupt(): void;
  restore(): void;
  /** How many connections were cut. */
  cuts(): number;
  close(): Promise<void>;
}

export async function startProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let marks: readonly string[] = [];
  let cuts = 0;
  let isInterrupted = false;
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    if (isInterrupted) return void client.destroy();
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    let doomed = false;
    client.on('data', (chunk) => {
      doomed ||= marks.some((mark) => chunk.includes(mark));
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!doomed) return void client.write(chunk);
      cuts++;
      client.resetAndDestroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cutAfter: (...texts) => {
      marks = texts;
    },
    interrupt() {
      isInterrupted = true;
      destroyAll();
    },
    restore() {
      isInterrupted = false;
    },
    cuts: () => cuts,
    async close() {
      const closed = once(server, 'close');
      server.close();
      destroyAll();
      await closed;
    },
  };
}
