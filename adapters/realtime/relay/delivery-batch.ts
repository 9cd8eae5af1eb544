/** The deliveries of one event with their frames, as stored in the ring and sent to streams. */
import { estimateBytes } from '../../../application/memory/estimate-size.js';
import type { Position } from '../../../application/ports/index.js';
import type { Delivery } from '../../../application/subscription/index.js';
import type { RingItem } from './ring.js';
import { type Frame, frame } from './sink.js';

export interface DeliveryBatch extends RingItem {
  readonly deliveries: readonly PreparedDelivery[];
}

export interface PreparedDelivery {
  readonly delivery: Delivery;
  readonly to: readonly string[];
  readonly ends: boolean;
  /** Frame with the event's position as cursor. */
  readonly last: Frame;
  /** Frame without a cursor, if the event has several: the client has not seen all of it yet. */
  readonly partial: Frame;
}

export function prepare(deliveries: readonly Delivery[], position: Position): DeliveryBatch {
  const prepared = deliveries.map((delivery) => {
    const last = frame(delivery.message, position);
    const partial = deliveries.length > 1 ? frame(delivery.message) : last;
    return { delivery, to: delivery.to, ends: delivery.ends ?? false, last, partial };
  });
  return batchOf(prepared, position);
}

const OVERHEAD_BYTES = 500;

/** Each delivery is held twice: as an object and as serialized text. */
export const batchOf = (deliveries: readonly PreparedDelivery[], position: Position): DeliveryBatch => ({
  position,
  deliveries,
  bytes: deliveries.reduce((sum, { delivery }) => sum + OVERHEAD_BYTES + 2 * estimateBytes(delivery), 0),
});

/** Returns the frames of one stream. Only the last carries the cursor. */
export const framesFor = (prepared: readonly PreparedDelivery[]): readonly Frame[] =>
  prepared.map((each, index) => (index < prepared.length - 1 ? each.partial : each.last));
