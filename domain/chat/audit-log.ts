/** What is noted for auditors, a stream a day. Streams `chat.audit-<yyyy-mm-dd>`, and `chat.acts-<yyyy-mm-dd>` of acts that are kept. */
import type { Decider } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';

export type AuditEvent = ChatEvent<'SignInLimitReached' | 'Exported' | 'ActKept'>;

/**
 * Of the day of an instant, Unix ms, in UTC. Releases that know of no acts read the streams of everything else, and would
 * fail by what they do not know.
 */
export const auditStream = ({ type }: AuditEvent, at: number): string =>
  `chat.${type === 'ActKept' ? 'acts' : 'audit'}-${new Date(at).toISOString().slice(0, 10)}`;

type Nothing = Record<never, never>;

/** Nothing is decided: what is told has happened. */
export const audit: Decider<Nothing, AuditEvent, AuditEvent> = {
  initialState: {},
  decide: (event) => [event],
  evolve: { SignInLimitReached: (state) => state, Exported: (state) => state, ActKept: (state) => state },
};
