/**
 * Ports for messages between participants that are not in the event log: offers, answers, candidates, files,
 * repeated states.
 */
import type { Person } from '../../domain/meeting/state.js';

/** Sender and target, both in the same room; `node` is the process that holds the target's socket. */
export interface Route {
  readonly roomId: string;
  readonly from: Pick<Person, 'id'>;
  readonly to: Pick<Person, 'id' | 'node'>;
}

/** A message that is not stored. */
export interface EphemeralMessage {
  /** The serialized message. */
  readonly json: string;
  /**
   * The repeated command (JSON) the message stems from; the message is dropped if it is outdated when its turn to
   * be sent comes.
   */
  readonly repeats?: string | undefined;
}

/** Sends to participants on any node. Messages to absent participants are dropped silently. */
export interface ClusterSignaling {
  /** Sends immediately, in order. Recipients that leave too much unread are disconnected. */
  send(route: Route, message: EphemeralMessage): void;
  /**
   * Sends in order with other calls of this method to the same target. Resolves once the target's socket has
   * drained, or the target is gone. Never rejects; never delivers part of a message.
   */
  sendWithBackpressure(route: Route, message: EphemeralMessage): Promise<void>;
}

/** Sends to sockets of this process; returns whether the target was reached. */
export interface LocalSignaling {
  send(participantId: string, message: EphemeralMessage): boolean;
  sendWithBackpressure(participantId: string, message: EphemeralMessage): Promise<boolean>;
}
