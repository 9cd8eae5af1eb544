/** What the processes of an installation tell each other directly, and is in no log (docs/guide/cluster.md). */

/** A message of one process to another. */
export interface ClusterMessage {
  /** What it is about, in the words of whoever speaks; small. */
  readonly head: { readonly [name: string]: string };
  /** What it carries, as it is. */
  readonly body: string;
}

/** Hears what the process with this name says; settles when there is room for more, with whether it came to anybody. */
export type MessageHandler = (from: string, said: ClusterMessage) => boolean | Promise<boolean>;

export interface Cluster {
  /** What others say is heard from now on; before, it comes to nobody. */
  hear(hear: MessageHandler): void;
  /** How the others know this process: it has another name at each start. */
  readonly nodeId: string;
  /** The names of those that live, this one among them: who has gone is told of some seconds later. */
  liveNodes(): ReadonlySet<string>;
  /** Not waited for, and in order. Lost as a whole with the connection, or where far too much waits for it already. */
  send(to: string, said: ClusterMessage): void;
  /**
   * In order with all that is asked for the same target, one at a time, and waited for: settles when `to` has heard it
   * and has room for more. False when it came to nobody, or the other one is gone or frozen; never rejects.
   */
  request(to: string, target: string, said: ClusterMessage): Promise<boolean>;
}

/** Who else is there, and where they can be reached. */
export interface Members {
  /** The address of one that lives. */
  address(run: string): string | undefined;
  /** Grows for as long as it says that it lives. */
  beats(run: string): number | undefined;
  liveNodes(): ReadonlySet<string>;
  /** The names of those that live, and say that they can't reach this one. */
  unreachedBy(): readonly string[];
  /** Looks now; rejects when that can't be known. */
  look(): Promise<void>;
}
