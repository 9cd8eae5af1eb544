/** Type guards for recorded events; safe because the codec has matched each event to the catalog. */
import type { DomainEvent } from '../../domain/shared/index.js';
import type { RecordedEvent } from '../ports/index.js';

/** Tests the type of an event: `isEvent<RoomBurned>('RoomBurned', event)`. */
export const isEvent = <E extends DomainEvent>(
  type: E['type'],
  event: RecordedEvent,
): event is RecordedEvent<E> & RecordedEvent => event.type === type;

/** Casts an event of a stream that contains only events of type `E`. */
export const asEvent = <E extends DomainEvent>(event: RecordedEvent) => event as RecordedEvent<E>;
