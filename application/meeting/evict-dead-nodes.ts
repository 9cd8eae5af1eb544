/** Evicts people of dead nodes: marks their connections as lost, then removes those who do not reconnect in time. */

import type { Command } from '../../domain/meeting/commands.js';
import { type RoomState, roomStream } from '../../domain/meeting/state.js';
import type { KernelPorts } from '../command/index.js';
import { createYielder } from '../concurrency/index.js';
import type { Clock, Cluster, CommandContext } from '../ports/index.js';
import { roomAggregate } from './aggregates.js';

export interface EvictionPorts extends Pick<KernelPorts, 'handle' | 'clock' | 'logger'> {
  readonly mesh: Pick<Cluster, 'liveNodes'>;
  /** Returns the open rooms as this node knows them. */
  readonly rooms: () => Iterable<readonly [roomId: string, RoomState]>;
  /** Milliseconds people of a dead node keep their places. */
  readonly returnMs: number;
  /** Monotonic clock. */
  readonly monotonic?: Clock;
  readonly systemContext: (actor: string) => CommandContext;
}

export const EVICTION_INTERVAL_MS = 1000;
const CONCURRENCY = 16;

/** Creates the job, run periodically by one node of the cluster. A failed command is retried at the next run. */
export function createDeadNodeEviction(ports: EvictionPorts) {
  const { handle, mesh, rooms, returnMs, clock, monotonic = performance, systemContext, logger } = ports;
  /** When a node was first seen dead, monotonic ms. */
  const deadSince = new Map<string, number>();

  /** Returns the rooms of each node; the value is true if someone in the room is not marked as disconnected yet. */
  async function roomsByNode(): Promise<Map<string, Map<string, boolean>>> {
    const byNode = new Map<string, Map<string, boolean>>();
    const yieldIfDue = createYielder();
    for (const [roomId, { people, waiting }] of rooms()) {
      for (const { node, isDisconnected } of [...people, ...waiting]) {
        const roomsOfNode = byNode.get(node) ?? new Map<string, boolean>();
        byNode.set(node, roomsOfNode.set(roomId, roomsOfNode.get(roomId) || !isDisconnected));
      }
      await yieldIfDue();
    }
    return byNode;
  }

  async function execute(command: Command<'LoseConnection' | 'RemovePeopleOfNode'>): Promise<void> {
    await handle(roomAggregate, roomStream(command.roomId), command, systemContext('meeting.lost'));
  }

  return async (stop: AbortSignal): Promise<void> => {
    const nodes = await roomsByNode();
    const alive = mesh.liveNodes();
    for (const node of deadSince.keys()) if (!nodes.has(node) || alive.has(node)) deadSince.delete(node);
    for (const [node, roomIds] of nodes) {
      if (alive.has(node)) continue;
      const since = deadSince.get(node) ?? monotonic.now();
      deadSince.set(node, since);
      const isWithinGrace = monotonic.now() - since < returnMs;
      if (!isWithinGrace)
        logger.info({ node, rooms: roomIds.size }, 'node is dead; removing its people from their rooms');
      const roomsToUpdate = [...roomIds]
        .filter(([, hasConnected]) => hasConnected || !isWithinGrace)
        .map(([roomId]) => roomId);
      const commandOf = (roomId: string): Command<'LoseConnection' | 'RemovePeopleOfNode'> =>
        isWithinGrace
          ? { type: 'LoseConnection', roomId, where: { node }, now: clock.now() }
          : { type: 'RemovePeopleOfNode', roomId, node, now: clock.now() };
      for (let from = 0; from < roomsToUpdate.length && !stop.aborted; from += CONCURRENCY)
        await Promise.all(roomsToUpdate.slice(from, from + CONCURRENCY).map((roomId) => execute(commandOf(roomId))));
    }
  };
}
