/** A delivery with its frame, as the ring keeps it and the connections get it. */
import type { Position } from '../../application/ports.js';
import type { Delivery } from './audience.js';
import { type Frame, frame } from './sink.js';

export interface Kept {
  readonly position: Position;
  readonly delivery: Delivery;
  readonly to: readonly string[];
  readonly ends: boolean;
  /** With the event's position as the cursor. */
  readonly last: Frame;
  /** Without: the client has not seen all of the event yet. */
  readonly more: Frame;
}

export function keep(delivery: Delivery, position: Position): Kept {
  const last = frame(delivery.frame, position);
  const more: Frame = {
    get json() {
      return last.json;
    },
  };
  return { position, delivery, to: delivery.to, ends: delivery.ends ?? false, last, more };
}

/** The frames for one stream: of several from one event only the last carries the cursor. */
export const inSequence = (kept: readonly Kept[]): readonly Frame[] =>
  kept.map((each, index) => (kept[index + 1]?.position === each.position ? each.more : each.last));
