/** Manages the daily keys that visitor ids are hashed with: created on a day's first hit, destroyed after the day. */

import { type AnalyticsEvent, visitorSubject } from '../../domain/analytics/catalog.js';
import { dayOf } from '../../domain/analytics/hit.js';
import { VISITOR_DAYS } from '../../domain/analytics/visitor-keys.js';
import { isRejection } from '../../domain/shared/index.js';
import type { KernelPorts } from '../command/index.js';
import type { ConfirmedClock, Digester, Vault } from '../ports/index.js';
import type { Reaction } from '../subscription/index.js';
import { visitorsAggregate } from './aggregates.js';

export interface VisitorKeyPorts extends Pick<KernelPorts, 'handle' | 'aggregates' | 'context'> {
  readonly vault: Pick<Vault, 'renew' | 'digester'>;
  readonly clock: ConfirmedClock;
}

/** Milliseconds between checks for ended days. */
export const END_DAYS_INTERVAL_MS = 60_000;
/** Milliseconds a day's key outlives the day: clocks of nodes differ, and hits may be in flight. */
const GRACE_MS = 2 * 60_000;

export type DailyVisitorKeys = ReturnType<typeof createDailyVisitorKeys>;

export function createDailyVisitorKeys({ handle, aggregates, vault, clock, context }: VisitorKeyPorts) {
  /** By day. Usually the current one; a second while clocks of nodes differ. */
  const hashers = new Map<string, Promise<Digester | undefined>>();

  async function open(day: string): Promise<Digester | undefined> {
    const subject = visitorSubject({ day });
    // The key must exist before the event. Replaces a key that a clock running ahead has destroyed too early.
    const createKey = () => vault.renew(subject);
    const now = clock.now();
    const command = { type: 'OpenVisitorDay' as const, day, before: dayOf(now - GRACE_MS), now };
    const outcome = await handle(visitorsAggregate, VISITOR_DAYS, command, context('analytics.visitors'), createKey);
    return isRejection(outcome) ? undefined : vault.digester(subject, 'visitors');
  }

  return {
    /** Returns the hash function for visitors of a day; undefined if its key is destroyed. */
    hasherFor(day: string): Promise<Digester | undefined> {
      const pending = hashers.get(day);
      if (pending) return pending;
      for (const each of hashers.keys()) if (each < day) hashers.delete(each);
      const hasher = open(day);
      hashers.set(day, hasher);
      hasher.catch(() => hashers.delete(day));
      return hasher;
    },

    /** Drops the cached hasher after the day's key was destroyed, perhaps by another node. */
    forget: (day: string): void => void hashers.delete(day),

    /** Records the end of past days, including those that ended while no node ran. */
    async end(): Promise<void> {
      const isPast = (now: number) => {
        const today = dayOf(now - GRACE_MS);
        return (day: string) => day < today;
      };
      const { state } = await aggregates.reload(visitorsAggregate, VISITOR_DAYS);
      // Confirming the time costs the event store a write, so do it only if a day may be over.
      if (!state.open.some(isPast(clock.now()))) return;
      const now = await clock.confirmedNow();
      if (now === undefined || !state.open.some(isPast(now))) return;
      const command = { type: 'EndVisitorDays' as const, before: dayOf(now - GRACE_MS), now };
      const outcome = await handle(visitorsAggregate, VISITOR_DAYS, command, context('analytics.visitors'));
      if (isRejection(outcome)) throw new Error(outcome.rejected);
    },
  };
}

/** Destroys the key of an ended day: its visitor ids can no longer be recomputed. */
export const destroyKeyReaction = (vault: Pick<Vault, 'destroy'>): Reaction<AnalyticsEvent<'VisitorDayEnded'>> => ({
  name: 'analytics.end-visitor-days',
  on: { VisitorDayEnded: ({ data }) => vault.destroy(visitorSubject(data)) },
});
