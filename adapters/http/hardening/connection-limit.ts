/** Limits the connections of all services together, so that file descriptors remain for the process itself. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Budget, Reservation, Shortage } from '../../../application/concurrency/index.js';

export interface ConnectionLimit {
  /**
   * Adds a new connection. At the limit, the longest idle connection is closed for it, preferably one of the same
   * network, so that no network can displace others. Without an idle one it stays, and its request is rejected.
   */
  join(socket: Socket): void;
  /** Marks a connection with a request in progress; returns the shortage if the request must be rejected. */
  busy(socket: Socket): Shortage | undefined;
  /** Marks a connection without a request in progress. */
  idle(socket: Socket): void;
}

interface Member {
  readonly network: string | undefined;
  /** Holds a unit of the budget while the connection is busy. */
  readonly reservation: Reservation;
}

/**
 * @param budget Counts busy connections.
 * @param shareOf Returns the network an address counts for; undefined for addresses without a share of their own.
 */
export function createConnectionLimit(
  budget: Budget,
  shareOf: (address: string) => string | undefined,
): ConnectionLimit {
  const members = new Map<Socket, Member>();
  /** Idle connections, the longest idle first. Closing one loses no response. */
  const idle = new Set<Socket>();
  const idleByNetwork = new Map<string | undefined, Set<Socket>>();

  function addIdle(socket: Socket, { network, reservation }: Member) {
    reservation.release();
    idle.add(socket);
    idleByNetwork.set(network, (idleByNetwork.get(network) ?? new Set()).add(socket));
  }

  function removeIdle(socket: Socket, { network }: Member) {
    idle.delete(socket);
    const sockets = idleByNetwork.get(network);
    if (sockets?.delete(socket) && sockets.size === 0) idleByNetwork.delete(network);
  }

  function remove(socket: Socket) {
    const member = members.get(socket);
    if (!member) return;
    members.delete(socket);
    removeIdle(socket, member);
    member.reservation.release();
  }

  return {
    join(socket) {
      const network = shareOf(socket.remoteAddress ?? '');
      if (members.size >= budget.limit) {
        const [longestIdle] = idleByNetwork.get(network) ?? idle;
        if (longestIdle) remove(longestIdle);
        longestIdle?.destroy();
      }
      const member = { network, reservation: budget.reserve(network) };
      members.set(socket, member);
      addIdle(socket, member);
      socket.once('close', () => remove(socket));
    },
    busy(socket) {
      const member = members.get(socket);
      if (!member) return undefined;
      removeIdle(socket, member);
      return member.reservation.acquire(1);
    },
    idle(socket) {
      const member = members.get(socket);
      if (member && !socket.destroyed) addIdle(socket, member);
    },
  };
}

/** File descriptors reserved for stores, event log, tailed files and the operations port. */
const RESERVED_FILES = 256;

/** The number of client connections the limit of open files permits, at most `requested`. */
export function maxConnections(requested: number, limits = readLimits()): number {
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  return Math.min(requested, Math.max(files - RESERVED_FILES, Math.floor(files / 2)));
}

/** Empty on systems without `/proc`, where only the requested number applies. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
