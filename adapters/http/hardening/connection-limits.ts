/** Stops clients that exhaust files, CPU time or memory: by many connections, pipelined requests, unread responses, or bodies that stall or come in tiny chunks. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import {
  type After,
  type Budget,
  type Reservation,
  type Shortage,
  systemTimer,
} from '../../../application/concurrency/index.js';
import { type Problem, problem, TOO_SLOW } from '../server/policy.js';

export type ConnectionLimit = ReturnType<typeof createConnectionLimit>;

interface Member {
  readonly network: string | undefined;
  /** Holds a unit of the budget while the connection is busy. */
  readonly reservation: Reservation;
}

/**
 * @param budget Counts busy connections.
 * @param shareOf Returns the network an address counts for; undefined for addresses without a share of their own.
 */
export function createConnectionLimit(budget: Budget, shareOf: (address: string) => string | undefined) {
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
    /**
     * Adds a new connection. At the limit, the longest idle connection is closed for it, preferably one of the same
     * network, so that no network can displace others. Without an idle one it stays, and its request is rejected.
     */
    join(socket: Socket) {
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
    /** Marks a connection with a request in progress; returns the shortage if the request must be rejected. */
    busy(socket: Socket): Shortage | undefined {
      const member = members.get(socket);
      if (!member) return undefined;
      removeIdle(socket, member);
      return member.reservation.acquire(1);
    },
    idle(socket: Socket) {
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

/** Pipelined requests after which the connection is closed; no common client sends more. */
const MAX_QUEUED = 100;

/** Starts each request of a connection when the previous one was answered; node would start thousands together. */
export function limitPipelining() {
  const queues = new WeakMap<Socket, (() => void)[]>();
  return ({ socket }: IncomingMessage, response: ServerResponse, respond: () => void): void => {
    const queue = queues.get(socket);
    const start = () => {
      response.once('close', next);
      respond();
    };
    const next = () => {
      const first = socket.destroyed ? undefined : queues.get(socket)?.shift();
      if (first) first();
      else queues.delete(socket);
    };
    if (socket.destroyed) return;
    if (!queue) {
      queues.set(socket, []);
      start();
    } else if (queue.push(start) > MAX_QUEUED) {
      queue.length = 0;
      socket.destroy();
    }
  };
}

/** A client that reads nothing of a response for this long is disconnected. */
export const STALLED_MS = 15_000;

export interface UnreadOptions {
  /** Bytes of all responses that are not read yet. */
  readonly budget: Budget;
  readonly networkOf: (response: ServerResponse) => string;
  readonly stalledMs?: number;
}

interface UnreadResponse {
  readonly network: string;
  readonly reservation: Reservation;
}

/** When the budget is used up, drops the oldest unread responses: of the same network if it has used its share, else of any. */
export function limitUnreadResponses({
  budget,
  networkOf,
  stalledMs = STALLED_MS,
}: UnreadOptions): (response: ServerResponse) => void {
  /** Oldest first. */
  const unread = new Map<Socket, UnreadResponse>();

  const forget = (socket: Socket) => {
    unread.get(socket)?.reservation.release();
    unread.delete(socket);
  };

  /** Disconnects the client of the oldest matching response; false if there is none. */
  function dropOldest(matches: (response: UnreadResponse) => boolean): boolean {
    for (const [socket, response] of unread) {
      if (!matches(response)) continue;
      forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  return (response) => {
    response.once('prefinish', () => {
      const { socket } = response;
      const bytes = socket?.writableLength ?? 0;
      if (!socket || bytes === 0) return;
      // Restarts with every chunk the client reads, and with the next request of the connection.
      socket.setTimeout(stalledMs);
      const network = networkOf(response);
      const reservation = budget.reserve(network);
      for (let shortage = reservation.acquire(bytes); shortage; shortage = reservation.acquire(bytes)) {
        const matches = shortage === 'share' ? (other: UnreadResponse) => other.network === network : () => true;
        if (!dropOldest(matches)) break;
      }
      unread.set(socket, { network, reservation });
      response.once('close', () => forget(socket));
    });
  };
}

/** Chunks after which other work runs. A chunk costs the same with 1 byte as with 64 KB: 1 MB of bytes takes seconds. */
const CHUNKS_PER_SLICE = 500;
/** Chunks allowed regardless of size; far more than clients with many small writes need. */
const FREE_CHUNKS = 2000;
/** Minimum average size of all further chunks. */
const MIN_AVERAGE_BYTES = 16;

/** Interval of the check in ms: a stalled body is detected within two of them. */
const WINDOW_MS = 5000;
/** Minimum bytes per window: an eighth of an uplink of 32 KB/s, as connections may falter. */
const MIN_BYTES = 20 * 1024;

const tooManyChunks = problem(400, 'The body is sent in too many small chunks');
/** Closes the connection, as the rest of the body is not awaited. */
const tooSlow = problem(408, TOO_SLOW, { headers: { Connection: 'close' } });

/** Watches a body while something else reads it, until it rejects or the returned function is called. */
export function watchBody(
  request: IncomingMessage,
  reject: (problem: Problem) => void,
  after: After | undefined,
  onChunk: (bytes: number) => void = () => {},
): () => void {
  const stop = (problem: Problem) => {
    unwatch();
    reject(problem);
  };
  const unwatchChunks = watchChunks(request, { onChunk, onTooMany: () => stop(tooManyChunks) });
  const unwatchProgress = watchProgress(request.socket, () => stop(tooSlow), after);
  const unwatch = () => {
    unwatchProgress();
    unwatchChunks();
  };
  return unwatch;
}

/** Discards the rest of a body that was already answered; the connection is kept while it arrives. */
export function drainBody(request: IncomingMessage, after: After | undefined): void {
  if (request.complete) return;
  const unwatch = watchBody(request, () => request.socket.destroy(), after);
  request.once('close', unwatch).once('end', unwatch);
  request.on('data', () => {}).resume();
}

export interface ChunkListener {
  onChunk(bytes: number): void;
  /** Too many chunks for so few bytes. */
  onTooMany(): void;
}

/** Observes chunks once something else reads: a 'data' listener would itself start the flow and lose chunks. */
export function watchChunks(body: Readable, { onChunk, onTooMany }: ChunkListener): () => void {
  let [chunks, bytes] = [0, 0];
  const onData = (chunk: Buffer) => {
    chunks++;
    bytes += chunk.length;
    if (chunks > FREE_CHUNKS + bytes / MIN_AVERAGE_BYTES) return onTooMany();
    onChunk(chunk.length);
    if (chunks % CHUNKS_PER_SLICE !== 0) return;
    body.pause();
    setImmediate(() => body.resume());
  };
  const join = (event: string | symbol) => {
    if (event !== 'data') return;
    body.off('newListener', join);
    body.on('data', onData);
  };
  body.on('newListener', join);
  return () => body.off('newListener', join).off('data', onData);
}

function watchProgress(socket: Socket, onTooSlow: () => void, after: After = systemTimer): () => void {
  let countedBytes = socket.bytesRead;
  let pendingCheck: NodeJS.Immediate | undefined;
  let cancel = after(WINDOW_MS, scheduleCheck);

  // Data that arrived while this process was busy or suspended is read before the check.
  function scheduleCheck() {
    pendingCheck = setImmediate(check);
  }

  function check() {
    const bytes = socket.bytesRead - countedBytes;
    if (bytes < MIN_BYTES) return onTooSlow();
    countedBytes += bytes;
    cancel = after(WINDOW_MS, scheduleCheck);
  }

  return () => {
    cancel();
    clearImmediate(pendingCheck);
  };
}
