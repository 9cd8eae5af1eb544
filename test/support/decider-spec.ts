/** Spec of a decider: given these events, when this command, then these events or this rejection. */
import { expect } from 'chai';
import { type Decider, type DomainEvent, evolveOf, isRejection, type Rejection } from '../../domain/shared/decider.js';

export function specOf<State, Command, Event extends DomainEvent>(decider: Decider<State, Command, Event>) {
  const evolve = evolveOf(decider);
  const after = (events: readonly Event[]) => events.reduce(evolve, decider.initialState);

  return {
    given: (...events: readonly Event[]) => ({
      when(command: Command) {
        const outcome = decider.decide(command, after(events));
        return {
          then: (...expected: readonly Event[]) => expect(outcome).to.deep.equal(expected),
          thenNothing: () => expect(outcome).to.deep.equal([]),
          thenRejected: (rejected: string, more: Partial<Rejection> = {}) =>
            expect(outcome).to.include({ rejected, ...more }),
        };
      },
    }),
    after,
    /** Runs commands one after the other; rejected ones change nothing. */
    run(commands: readonly Command[], from: readonly Event[] = []) {
      const events: Event[] = [...from];
      let state = after(from);
      for (const command of commands) {
        const outcome = decider.decide(command, state);
        if (isRejection(outcome)) continue;
        events.push(...outcome);
        state = outcome.reduce(evolve, state);
      }
      return { events, state };
    },
  };
}
