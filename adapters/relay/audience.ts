/** Who is told what: a pure fold of the log, tested without a socket. One per service. */
import type { RevealedEvent } from '../../application/ports.js';
import type { DomainEvent } from '../../domain/shared/decider.js';

/**
 * `deliver` judges by the state after the event, and by the state before it only where the thing itself ends.
 * `evolve` is total and sees every event of the service in log order.
 */
export interface Audience<State, Event extends DomainEvent = DomainEvent> {
  readonly initialState: State;
  evolve(state: State, event: RevealedEvent<Event>): State;
  deliver(event: RevealedEvent<Event>, after: State, before: State): readonly Delivery[];
}

/** One message and whose streams it goes to. */
export interface Delivery {
  /** Keys that streams are connected under, for example a room's id or `user:<id>`. A stream gets it once. */
  readonly to: readonly string[];
  readonly frame: Message;
  /** The streams that receive it end with it. */
  readonly ends?: boolean;
}

export interface Message {
  readonly type: string;
  readonly payload?: unknown;
}
