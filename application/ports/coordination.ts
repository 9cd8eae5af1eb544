/** Ports for coordination between nodes: leases and checkpoints. */
import type { Position } from './event-log.js';

/** Exclusive right to a name for as long as it is renewed. */
export interface Lease {
  readonly name: string;
  /** Fencing token: grows with every new holder, so that stores can refuse writes of former ones. */
  readonly fence: bigint;
  /** Aborted when the lease is lost or released. */
  readonly lost: AbortSignal;
  /**
   * Throws if the lease is lost or has expired by the clock. Call it just before any action reserved to the holder: a
   * paused process resumes in the middle of its work, before any timer fires.
   */
  assertHeld(): void;
  release(): Promise<void>;
}

export interface Leases {
  /** Returns the lease, or undefined while another node holds it. */
  acquire(name: string): Promise<Lease | undefined>;
  /**
   * Returns the node that holds a lease; undefined once it is released, or was observed without renewal for its whole
   * duration. The first call assumes that it is held, because clocks differ and callers delete data of free leases.
   */
  holder(name: string): Promise<string | undefined>;
}

export interface Checkpoints {
  read(name: string): Promise<Position | undefined>;
  /**
   * Moves checkpoints forward under a lease. False if a later holder has moved them, or the holder of another lease,
   * such as a builder that hands over to a projector, is ahead.
   */
  advance(positions: { readonly [name: string]: Position }, lease: Pick<Lease, 'name' | 'fence'>): Promise<boolean>;
  forget(name: string): Promise<void>;
  /** Returns the positions of all checkpoints and of the resume windows of the live feed. */
  all(): Promise<ReadonlyMap<string, Position>>;
}
