/** The connections of all services' ports together: bounded, so that a process can still open what it needs itself. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

export interface Crowd {
  /** One more has come. Beyond the bound the one is closed that has been idle longest, which may be the new one. */
  join(socket: Socket): void;
  /** It has asked something, and waits for the answer. */
  busy(socket: Socket): void;
  /** It has its answer. */
  idle(socket: Socket): void;
}

export function createCrowd(most: number): Crowd {
  let size = 0;
  /** Those that ask nothing, in the order in which they began to: closing one loses nobody an answer. */
  const idle = new Set<Socket>();

  return {
    join(socket) {
      size++;
      idle.add(socket);
      socket.once('close', () => {
        size--;
        idle.delete(socket);
      });
      if (size <= most) return;
      const [longest = socket] = idle;
      // Only when it is closed it no longer counts: until then no other goes in its stead.
      idle.delete(longest);
      longest.destroy();
    },
    busy: (socket) => void idle.delete(socket),
    idle(socket) {
      if (!socket.destroyed) idle.add(socket);
    },
  };
}

/** For the stores, the log, files that are followed, and the operations port: all that is no client's. */
const OWN_FILES = 256;

/** How many clients' connections a process may have beside what it opens itself, by its limit of open files. */
export function mostConnections(limits = readLimits()): number {
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  return Math.max(files - OWN_FILES, Math.floor(files / 2));
}

/** Empty where the system does not tell: there nothing is bounded. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
