/** The connections of all services' ports together: bounded, so that a process can still open what it needs itself. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Budget, Reservation, Shortage } from '../../../application/concurrency/index.js';

export interface ConnectionLimit {
  /**
   * One more has come. Beyond the bound an idle one is closed for it, that which has been idle longest: of its own
   * network if there is one, so that nobody drives others out. Where none is idle it stays, to be told when it asks.
   */
  join(socket: Socket): void;
  /** It has asked something, and waits for the answer; or why there may not be one more. */
  busy(socket: Socket): Shortage | undefined;
  /** It has its answer. */
  idle(socket: Socket): void;
}

interface Member {
  readonly whose: string | undefined;
  /** Of the budget, while it is busy. */
  readonly held: Reservation;
}

/** The budget is for those that are busy; `whoseOf` tells from the address of a socket whose share it counts for. */
export function createConnectionLimit(
  budget: Budget,
  whoseOf: (address: string) => string | undefined,
): ConnectionLimit {
  const members = new Map<Socket, Member>();
  /** Those that ask nothing, in the order in which they began to: closing one loses nobody an answer. */
  const idle = new Set<Socket>();
  const idleOf = new Map<string | undefined, Set<Socket>>();

  function rest(socket: Socket, { whose, held }: Member) {
    held.release();
    idle.add(socket);
    idleOf.set(whose, (idleOf.get(whose) ?? new Set()).add(socket));
  }

  function rouse(socket: Socket, { whose }: Member) {
    idle.delete(socket);
    const own = idleOf.get(whose);
    if (own?.delete(socket) && own.size === 0) idleOf.delete(whose);
  }

  function leave(socket: Socket) {
    const member = members.get(socket);
    if (!member) return;
    members.delete(socket);
    rouse(socket, member);
    member.held.release();
  }

  return {
    join(socket) {
      const whose = whoseOf(socket.remoteAddress ?? '');
      if (members.size >= budget.limit) {
        const [longest] = idleOf.get(whose) ?? idle;
        if (longest) leave(longest);
        longest?.destroy();
      }
      const member = { whose, held: budget.reserve(whose) };
      members.set(socket, member);
      rest(socket, member);
      socket.once('close', () => leave(socket));
    },
    busy(socket) {
      const member = members.get(socket);
      if (!member) return undefined;
      rouse(socket, member);
      return member.held.acquire(1);
    },
    idle(socket) {
      const member = members.get(socket);
      if (member && !socket.destroyed) rest(socket, member);
    },
  };
}

/** For the stores, the log, files that are followed, and the operations port: all that is no client's. */
const OWN_FILES = 256;

/** How many clients' connections a process may have beside what it opens itself, by its limit of open files. */
export function mostConnections(wanted: number, limits = readLimits()): number {
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  return Math.min(wanted, Math.max(files - OWN_FILES, Math.floor(files / 2)));
}

/** Empty where the system does not tell: there only what is wanted is a bound. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
