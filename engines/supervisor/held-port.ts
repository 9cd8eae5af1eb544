/** The port of an engine: its parent holds it too, so that nobody else can take it while the engine is started anew. */
import type { AddressInfo, Server } from 'node:net';

/** What listens, below a server of Node: it goes from process to process, and accepts nothing where nobody serves it. */
export interface HeldPort {
  close(): void;
}

/**
 * Listens on a port of 127.0.0.1, or on one that is held; resolves to its number. Rejects when it is taken by another.
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

/** Of a server that listens: to be sent to another process. */
export const heldPortOf = (server: Server): HeldPort =>
  // A server itself can be sent too, but is one there again, that takes a share of the connections.
  (server as unknown as { readonly _handle: HeldPort })._handle;
