/** A TCP proxy in front of a server: holds answers back, loses them, or cuts connections. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** The server's URL with this proxy's address. */
  readonly url: string;
  /** Cuts a connection after its client has sent any of these texts: the server gets the request, the answer is lost. */
  cutAfter(...texts: readonly string[]): void;
  /** Passes requests on, but no answers. */
  holdAnswers(): void;
  /** Passes answers again; held ones are lost with their connections. */
  releaseAnswers(): void;
  /** Cuts all present and new connections until `restore`. */
  interrupt(): void;
  restore(): void;
  /** Number of connections that `cutAfter` has cut. */
  cuts(): number;
  close(): Promise<void>;
}

const ADDRESS = /@?([\d.]+):(\d+)/;

/** Starts a proxy before a port of this machine, or before the server of a URL. */
export async function startProxy(target: number | string): Promise<TcpProxy> {
  const url = typeof target === 'string' ? target : `127.0.0.1:${target}`;
  const [, host = '', port = ''] = ADDRESS.exec(url.slice(url.lastIndexOf('@') + 1)) ?? [];
  const sockets = new Set<Socket>();
  let marks: readonly string[] = [];
  let cuts = 0;
  let [isHeld, isInterrupted] = [false, false];
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    if (isInterrupted) return void client.destroy();
    const upstream = connect(Number(port), host);
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
    let isDoomed = false;
    client.on('data', (chunk) => {
      isDoomed ||= marks.some((mark) => chunk.includes(mark));
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (isHeld) return;
      if (!isDoomed) return void client.write(chunk);
      cuts++;
      client.resetAndDestroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = (server.address() as AddressInfo).port;
  return {
    port: own,
    url: url.replace(`${host}:${port}`, `127.0.0.1:${own}`),
    cutAfter: (...texts) => {
      marks = texts;
    },
    holdAnswers: () => {
      isHeld = true;
    },
    releaseAnswers() {
      isHeld = false;
      destroyAll();
    },
    interrupt() {
      isInterrupted = true;
      destroyAll();
    },
    restore: () => {
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
