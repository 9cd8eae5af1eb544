/**
 * The listening socket of an engine. The parent holds it too, so that no other process can take the port while the
 * engine restarts.
 */
import type { AddressInfo, Server } from 'node:net';

/** Handle below a Node server. It can be sent between processes and accepts no connections until a server uses it. */
export interface HeldPort {
  close(): void;
}

/**
 * Listens on a port of 127.0.0.1 or on an existing handle; resolves to the port number. Rejects if the port is taken.
 */
export const listenOn = (server: Server, at: number | HeldPort): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    const listening = () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    };
    if (typeof at === 'number') server.listen(at, '127.0.0.1', listening);
    else server.listen(at, listening);
  });

/** Returns the handle of a listening server, to be sent to another process. */
export const heldPortOf = (server: Server): HeldPort =>
  // Sending the server itself would create a second server that takes a share of the connections.
  (server as unknown as { readonly _handle: HeldPort })._handle;
