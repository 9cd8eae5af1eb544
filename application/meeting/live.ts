/** What people of a meeting tell each other and is in no log: offers, answers, candidates, files, and what was so before. */
import type { Person } from '../../domain/meeting/state.js';

/** Whom it is for; `node` is the process that holds their socket. */
export type Target = Pick<Person, 'id' | 'node'>;

/** To people wherever they are. `json` is one message as they read it. Who is not there is told nothing, and nobody of that. */
export interface LiveRelay {
  /** At once, in order, and not waited for: who leaves too much of it unread is cut. */
  tell(to: Target, json: string): void;
  /**
   * In order with all that is passed to the same target, and waited for: settles once the target has room for more, or
   * is not there, or has gone meanwhile. Never rejects. Nothing is passed in part.
   */
  pass(to: Target, json: string): Promise<void>;
}

/** The same to those whose sockets this process holds; says whether it came to anybody. */
export interface LiveHere {
  tell(participantId: string, json: string): boolean;
  pass(participantId: string, json: string): Promise<boolean>;
}

/** Of an installation of one process. */
export const onlyHere = (here: LiveHere): LiveRelay => ({
  tell: ({ id }, json) => void here.tell(id, json),
  pass: async ({ id }, json) => void (await here.pass(id, json)),
});
