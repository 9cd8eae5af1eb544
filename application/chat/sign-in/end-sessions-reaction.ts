/** Process manager that ends sessions when a user leaves or is removed, or a password changes, also after a crash. */
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { sessionStream } from '../../../domain/chat/session.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { HandleCommand } from '../../command/index.js';
import type { Clock, Derivation, RecordedEvent } from '../../ports/index.js';
import { causedBy, type Reaction } from '../../subscription/index.js';
import { sessionAggregate } from '../aggregates.js';

export interface DeparturePorts {
  readonly handle: HandleCommand;
  readonly derivation: Derivation;
  readonly clock: Clock;
}

type Departure = ChatEvent<'UserRemoved' | 'UserLeft' | 'PasswordSet'>;

export function departureReaction({ handle, derivation, clock }: DeparturePorts): Reaction<Departure> {
  async function end(event: RecordedEvent<Departure>) {
    const { type, data } = event;
    const { userId } = data;
    const before = type === 'PasswordSet' ? { before: data.setAt } : {};
    const reason = type === 'PasswordSet' ? ('password' as const) : ('removed' as const);
    const outcome = await handle(
      sessionAggregate,
      sessionStream(userId),
      { type: 'EndSessions', userId, reason, now: clock.now(), ...before },
      causedBy(derivation, 'chat.departure', event),
    );
    // Streams of erased users are tombstoned.
    if (isRejection(outcome) && outcome.kind !== 'gone') throw new Error(outcome.rejected);
  }
  return { name: 'chat.departure', on: { UserRemoved: end, UserLeft: end, PasswordSet: end } };
}
