/** Where an event of the log is taken for what the catalog says of its name: the codec has matched the two. */
import type { DomainEvent } from '../../domain/shared/index.js';
import type { RecordedEvent } from '../ports/index.js';

/** Whether it is an event of this name: `isOf<RoomBurned>('RoomBurned', event)`. */
export const isEvent = <E extends DomainEvent>(
  type: E['type'],
  event: RecordedEvent,
): event is RecordedEvent<E> & RecordedEvent => event.type === type;

/** For an event of a stream that holds no others. */
export const asEvent = <E extends DomainEvent>(event: RecordedEvent) => event as RecordedEvent<E>;
