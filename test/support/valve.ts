/** A TCP proxy in front of a server that can hold its answers back: what was asked for is done, and nobody hears. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Valve {
  /** The server's address with this port in place of its own. */
  readonly url: string;
  /** From now on every request comes through, and no answer. */
  hold(): void;
  /** Lets answers through again; those that were held are lost with their connections. */
  release(): void;
  close(): Promise<void>;
}

export async function startValve(target: string): Promise<Valve> {
  const address = /@?([\d.]+):(\d+)/;
  const [, host = '', port = ''] = address.exec(target.slice(target.lastIndexOf('@') + 1)) ?? [];
  const sockets = new Set<Socket>();
  let held = false;
  const server = createServer((client) => {
    const upstream = connect(Number(port), host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => held || client.write(chunk));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const mine = (server.address() as AddressInfo).port;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: target.replace(`${host}:${port}`, `127.0.0.1:${mine}`),
    hold: () => {
      held = true;
    },
    release: () => {
      held = false;
      cut();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
