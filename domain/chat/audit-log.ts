/**
 * Audit events, one stream per day. Streams `chat.audit-<yyyy-mm-dd>`, and `chat.acts-<yyyy-mm-dd>` for preserved
 * actions.
 */
import type { Decider } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';

export type AuditEvent = ChatEvent<'SignInLimitReached' | 'Exported' | 'ActKept'>;

/** Stream for an instant (Unix ms), by the UTC day. */
export const auditStream = ({ type }: AuditEvent, at: number): string =>
  `chat.${type === 'ActKept' ? 'acts' : 'audit'}-${new Date(at).toISOString().slice(0, 10)}`;

type Nothing = Record<never, never>;

/** Records what has already happened; nothing is decided. */
export const audit: Decider<Nothing, AuditEvent, AuditEvent> = {
  initialState: {},
  decide: (event) => [event],
  evolve: { SignInLimitReached: (state) => state, Exported: (state) => state, ActKept: (state) => state },
};
