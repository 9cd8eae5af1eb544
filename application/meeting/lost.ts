/** People whose node is gone leave their meetings, unless they come back over another one in time. */
import { type RoomState, roomStream } from '../../domain/meeting/state.js';
import type { Handle } from '../command/handle.js';
import type { Mesh } from '../mesh.js';
import type { Clock, CommandContext, Logger } from '../ports.js';
import { breather } from '../turns.js';
import { roomKind } from './kinds.js';

export interface LostPorts {
  readonly handle: Handle;
  readonly mesh: Pick<Mesh, 'alive'>;
  /** Those that are open, as they are known to be. */
  readonly rooms: () => Iterable<readonly [roomId: string, RoomState]>;
  /** How long a node must have been gone, ms: that of who comes back is kept free so long. */
  readonly returnMs: number;
  readonly clock: Clock;
  /** Only ever goes on. */
  readonly monotonic?: Clock;
  readonly systemContext: (actor: string) => CommandContext;
  readonly logger: Logger;
}

export const LOST_EVERY_MS = 1000;
const AT_ONCE = 16;

/** To be run every so often by one node of all; what fails is tried again at the next look. */
export function createLostSweep(ports: LostPorts) {
  const { handle, mesh, rooms, returnMs, clock, monotonic = performance, systemContext, logger } = ports;
  /** When it was first seen of a node that it is gone. */
  const goneSince = new Map<string, number>();

  /** The nodes at which anybody is, with the rooms. */
  async function inhabited(): Promise<Map<string, Set<string>>> {
    const found = new Map<string, Set<string>>();
    const rest = breather();
    for (const [roomId, { people, waiting }] of rooms()) {
      for (const { node } of [...people, ...waiting])
        found.set(node, (found.get(node) ?? new Set()).add(roomId));
      await rest();
    }
    return found;
  }

  async function lose(node: string, roomId: string): Promise<void> {
    const command = { type: 'LoseNode' as const, roomId, node, now: clock.now() };
    await handle(roomKind, roomStream(roomId), command, systemContext('meeting.lost'));
  }

  return async (stop: AbortSignal): Promise<void> => {
    const nodes = await inhabited();
    const alive = mesh.alive();
    for (const node of goneSince.keys()) if (!nodes.has(node) || alive.has(node)) goneSince.delete(node);
    for (const [node, roomIds] of nodes) {
      if (alive.has(node)) continue;
      const since = goneSince.get(node) ?? monotonic.now();
      goneSince.set(node, since);
      if (monotonic.now() - since < returnMs) continue;
      logger.info({ node, rooms: roomIds.size }, 'a node is gone, and its people leave their meetings');
      const all = [...roomIds];
      for (let from = 0; from < all.length && !stop.aborted; from += AT_ONCE)
        await Promise.all(all.slice(from, from + AT_ONCE).map((roomId) => lose(node, roomId)));
    }
  };
}
