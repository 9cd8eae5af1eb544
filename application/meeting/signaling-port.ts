/** What people of a meeting tell each other and is in no log: offers, answers, candidates, files, and what was so before. */
import type { Person } from '../../domain/meeting/state.js';

/** Who tells whom, both in the same room; `node` of the target is the process that holds their socket. */
export interface Route {
  readonly roomId: string;
  readonly from: Pick<Person, 'id'>;
  readonly to: Pick<Person, 'id' | 'node'>;
}

/** One message. */
export interface EphemeralMessage {
  /** As it is read. */
  readonly json: string;
  /** It repeats what the log has told already, this: left out where that is not so any more when its turn has come. */
  readonly repeats?: string | undefined;
}

/** To people wherever they are. Who is not there is told nothing, and nobody of that. */
export interface LiveRelay {
  /** At once, in order, and not waited for: who leaves too much of it unread is cut. */
  tell(route: Route, message: EphemeralMessage): void;
  /**
   * In order with all that is passed to the same target, and waited for: settles once the target has room for more, or
   * is not there, or has gone meanwhile. Never rejects. Nothing is passed in part.
   */
  pass(route: Route, message: EphemeralMessage): Promise<void>;
}

/** The same to those whose sockets this process holds; says whether it came to anybody. */
export interface LocalSignaling {
  tell(participantId: string, message: EphemeralMessage): boolean;
  pass(participantId: string, message: EphemeralMessage): Promise<boolean>;
}
