/** What one event told, with its frames, as the ring keeps it and the connections get it. */
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
  /** With the event's position as the cursor. */
  readonly last: Frame;
  /** Without, where there is more than one: the client has not seen all of the event yet. */
  readonly more: Frame;
}

export function prepare(deliveries: readonly Delivery[], position: Position): DeliveryBatch {
  const kept = deliveries.map((delivery) => {
    const last = frame(delivery.message, position);
    const more = deliveries.length > 1 ? frame(delivery.message) : last;
    return { delivery, to: delivery.to, ends: delivery.ends ?? false, last, more };
  });
  return batchOf(kept, position);
}

const OVERHEAD = 500;

/** Each delivery is held as it came, and once more as it is sent. */
export const batchOf = (deliveries: readonly PreparedDelivery[], position: Position): DeliveryBatch => ({
  position,
  deliveries,
  bytes: deliveries.reduce((sum, { delivery }) => sum + OVERHEAD + 2 * estimateBytes(delivery), 0),
});

/** The frames for one stream: of several from one event only the last carries the cursor. */
export const framesFor = (kept: readonly PreparedDelivery[]): readonly Frame[] =>
  kept.map((each, index) => (index < kept.length - 1 ? each.more : each.last));
