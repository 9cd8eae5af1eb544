/** Cluster messaging port: direct messages between the processes of an installation (docs/guide/cluster.md). */

/** Message of one process to another. */
export interface ClusterMessage {
  /** Headers, defined by the sender; small. */
  readonly head: { readonly [name: string]: string };
  /** Payload, not interpreted. */
  readonly body: string;
}

/** Handles a message of another process. Resolves when there is room for more, with whether it had a recipient. */
export type MessageHandler = (from: string, message: ClusterMessage) => boolean | Promise<boolean>;

export interface Cluster {
  /** Registers the message handler; earlier messages have no recipient. */
  onMessage(handler: MessageHandler): void;
  /** Id of this process; new at each start. */
  readonly nodeId: string;
  /** Ids of live processes, including this one. A dead process is noticed after some seconds. */
  liveNodes(): ReadonlySet<string>;
  /** Sends in order, without confirmation. Lost with the connection, or if its queue is too long. */
  send(to: string, message: ClusterMessage): void;
  /**
   * Sends a message and waits until `to` has handled it and has room for more. One at a time and in order per target.
   * False if it had no recipient, or the process is dead or frozen; never rejects.
   */
  request(to: string, target: string, message: ClusterMessage): Promise<boolean>;
}

/** Cluster membership: live processes and their addresses. */
export interface Members {
  /** Returns the address of a live process. */
  address(run: string): string | undefined;
  /** Returns the heartbeat counter of a process, which grows while it is alive. */
  beats(run: string): number | undefined;
  liveNodes(): ReadonlySet<string>;
  /** Ids of live processes that report that they cannot reach this one. */
  unreachedBy(): readonly string[];
  /** Refreshes the membership now; throws if that fails. */
  look(): Promise<void>;
}
