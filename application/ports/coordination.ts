/** Leases and checkpoints, by which nodes share work. */
import type { Position } from './event-log.js';

/** The right to be the only active one of a name, for as long as it is renewed. */
export interface Lease {
  readonly name: string;
  /** Grows with every new holder: what a former holder still writes is refused by it. */
  readonly fence: bigint;
  /** Aborted when the lease is lost or released. */
  readonly lost: AbortSignal;
  /**
   * To be called just before whatever only the holder may do. Throws when the lease is lost, or would be by the
   * clock: a process that was paused comes back in the middle of its work, before any timer has told it.
   */
  assertHeld(): void;
  release(): Promise<void>;
}

export interface Leases {
  /** The lease, or undefined while another node holds it. */
  acquire(name: string): Promise<Lease | undefined>;
  /**
   * The node that holds it, undefined once it is released, or was watched for all of its time and not renewed. A
   * first look can't tell and takes it for held, whatever the clocks say: what nobody holds may be done away with.
   */
  holder(name: string): Promise<string | undefined>;
}

export interface Checkpoints {
  read(name: string): Promise<Position | undefined>;
  /**
   * Moves checkpoints to where the holder of a lease is; false when a later holder of it has done so meanwhile, or that
   * of another one, like a builder whom a projector follows, is further on.
   */
  advance(positions: { readonly [name: string]: Position }, lease: Pick<Lease, 'name' | 'fence'>): Promise<boolean>;
  forget(name: string): Promise<void>;
  /** Of everything that is kept here, windows of the live feed too: how far into the log it has come. */
  all(): Promise<ReadonlyMap<string, Position>>;
}
