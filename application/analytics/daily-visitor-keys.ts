/** The keys by which the visitors of a day are told apart: made with its first hit, destroyed when it is over. */
import type { AnalyticsEvent } from '../../domain/analytics/catalog.js';
import { dayOf } from '../../domain/analytics/hit-batch.js';
import { visitorSubject } from '../../domain/analytics/visitor-key-subject.js';
import { VISITOR_DAYS } from '../../domain/analytics/visitor-keys.js';
import { isRejection } from '../../domain/shared/index.js';
import type { AggregateStore, HandleCommand } from '../command/index.js';
import type { CommandContext, ConfirmedClock, Digester, Vault } from '../ports/index.js';
import type { Reaction } from '../subscription/index.js';
import { visitorsAggregate } from './aggregates.js';

export interface VisitorKeyPorts {
  readonly handle: HandleCommand;
  readonly streams: AggregateStore;
  readonly vault: Pick<Vault, 'renew' | 'digester'>;
  readonly clock: ConfirmedClock;
  readonly context: (actor: string) => CommandContext;
}

/** How often it is looked whether a day is over. */
export const END_DAYS_EVERY_MS = 60_000;
/** A day that is over is waited for so long: clocks of nodes differ, and a hit may be on its way. */
const GRACE_MS = 2 * 60_000;

export type DailyVisitorKeys = ReturnType<typeof createDailyVisitorKeys>;

export function createDailyVisitorKeys({ handle, streams, vault, clock, context }: VisitorKeyPorts) {
  /** Of the newest day, and of one that another clock says it is. */
  const known = new Map<string, Promise<Digester | undefined>>();

  async function open(day: string): Promise<Digester | undefined> {
    const subject = visitorSubject({ day });
    // Whoever reads that the day is open finds its key: another one, where a clock that was ahead has ended it too early.
    const pay = async () => {
      await vault.renew(subject);
      return undefined;
    };
    const now = clock.now();
    const command = { type: 'OpenVisitorDay' as const, day, before: dayOf(now - GRACE_MS), now };
    const outcome = await handle(visitorsAggregate, VISITOR_DAYS, command, context('analytics.visitors'), pay);
    return isRejection(outcome) ? undefined : vault.digester(subject, 'visitors');
  }

  return {
    /** Digests by which visitors of a day are told apart; undefined when its key is destroyed. */
    hasherFor(day: string): Promise<Digester | undefined> {
      const underWay = known.get(day);
      if (underWay) return underWay;
      for (const each of known.keys()) if (each < day) known.delete(each);
      const opening = open(day);
      known.set(day, opening);
      opening.catch(() => known.delete(day));
      return opening;
    },

    /** The day's key was destroyed, perhaps by another node. */
    forget: (day: string): void => void known.delete(day),

    /** States that days are over, those too that ended while no node ran. */
    async end(): Promise<void> {
      const isOver = (now: number) => {
        const today = dayOf(now - GRACE_MS);
        return (day: string) => day < today;
      };
      const { state } = await streams.reload(visitorsAggregate, VISITOR_DAYS);
      // The certain time is asked for only where something hangs on it: to be asked, the store must write.
      if (!state.open.some(isOver(clock.now()))) return;
      const now = await clock.confirmedNow();
      if (now === undefined || !state.open.some(isOver(now))) return;
      const command = { type: 'EndVisitorDays' as const, before: dayOf(now - GRACE_MS), now };
      const outcome = await handle(visitorsAggregate, VISITOR_DAYS, command, context('analytics.visitors'));
      if (isRejection(outcome)) throw new Error(outcome.rejected);
    },
  };
}

/** Destroys the key of a day that is over: nobody can be told apart by it, nor be found again in what it made. */
export const endDayReaction = (vault: Pick<Vault, 'destroy'>): Reaction<AnalyticsEvent<'VisitorDayEnded'>> => ({
  name: 'analytics.end-visitor-days',
  on: { VisitorDayEnded: ({ data }) => vault.destroy(visitorSubject(data)) },
});
