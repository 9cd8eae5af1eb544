/** Orders events by what caused them. */
import type { RevealedEvent } from '../ports/index.js';

type Caused = Pick<RevealedEvent, 'id' | 'metadata'>;

export interface CausedEvent<Event extends Caused = RevealedEvent> {
  readonly event: Event;
  /** Number of events in the chain that led to it; 0 for the events of a request. */
  readonly depth: number;
}

/** Returns each event followed by those it caused, otherwise in the given order. */
export function causationTree<Event extends Caused>(events: readonly Event[]): readonly CausedEvent<Event>[] {
  const ids = new Set(events.map(({ id }) => id));
  const byCause = new Map<string, Event[]>();
  for (const event of events) {
    const { $causationId: cause = '' } = event.metadata;
    const key = ids.has(cause) ? cause : '';
    const siblings = byCause.get(key);
    if (siblings) siblings.push(event);
    else byCause.set(key, [event]);
  }
  const caused = (cause: string, depth: number): readonly CausedEvent<Event>[] =>
    (byCause.get(cause) ?? []).flatMap((event) => [{ event, depth }, ...caused(event.id, depth + 1)]);
  return caused('', 0);
}
