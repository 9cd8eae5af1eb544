/** Seeds the aggregate cache with the relay's state, so that streams are not read twice. */
import { CHANNELS, type ChannelsState } from '../../domain/chat/channels.js';
import { ROSTER, type RosterState } from '../../domain/chat/roster.js';
import type { AggregateStore } from '../command/index.js';
import { aggregateAt, type StreamCursors } from '../subscription/index.js';

export interface Folded {
  readonly roster: RosterState;
  readonly channels: ChannelsState;
  readonly reached: StreamCursors;
}

/** Loading an aggregate reads the events the relay has not received yet. */
export function seedAggregatesFromRelay(
  { seed }: Pick<AggregateStore, 'seed'>,
  { roster, channels, reached }: Folded,
): void {
  for (const [stream, state] of [
    [ROSTER, roster],
    [CHANNELS, channels],
  ] as const) {
    const at = reached[stream];
    if (at && at.revision >= 0) seed(stream, aggregateAt(state, at));
  }
}
