/** What is noted for auditors, a stream a day. Stream `chat.audit-<yyyy-mm-dd>`. */
import type { Decider } from '../shared/decider.js';
import type { ChatEvent } from './catalog.js';

export type AuditEvent = ChatEvent<'SignInLimitReached' | 'Exported' | 'ActKept'>;

/** The day of an instant, Unix ms, in UTC. */
export const auditStream = (at: number): string => `chat.audit-${new Date(at).toISOString().slice(0, 10)}`;

type Nothing = Record<never, never>;

/** Nothing is decided: what is told has happened. */
export const audit: Decider<Nothing, AuditEvent, AuditEvent> = {
  initialState: {},
  decide: (event) => [event],
  evolve: { SignInLimitReached: (state) => state, Exported: (state) => state, ActKept: (state) => state },
};
