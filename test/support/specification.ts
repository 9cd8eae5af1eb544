/** Words for rules: `given(...events).when(command).thenEvents(...) | thenNothing() | thenRejected(reason)`. */
import { expect } from 'chai';
import { type Decider, type DomainEvent, isRejection } from '../../domain/shared/decider.js';

export function specification<S, C, E extends DomainEvent>({
  initialState,
  decide,
  evolve,
}: Decider<S, C, E>) {
  return {
    given: (...history: readonly E[]) => ({
      when(command: C) {
        const outcome = decide(command, history.reduce(evolve, initialState));
        return {
          thenEvents: (...events: readonly E[]) => expect(outcome).to.deep.equal(events),
          thenNothing: () => expect(outcome).to.deep.equal([]),
          /** `detail`, if given, must occur in what a person is told. */
          thenRejected(rejected: string, detail = '') {
            expect(outcome).to.include({ rejected });
            expect(isRejection(outcome) ? (outcome.detail ?? '') : '').to.contain(detail);
          },
        };
      },
    }),
  };
}
