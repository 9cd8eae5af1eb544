/** What the relay has folded of the log is what commands are decided on, too: it need not be read twice. */
import { CHANNELS, type ChannelsState } from '../../domain/chat/channels.js';
import { ROSTER, type RosterState } from '../../domain/chat/roster.js';
import type { AggregateStore } from '../command/index.js';
import { loadedAt, type StreamCursors } from '../subscription/index.js';

export interface Folded {
  readonly roster: RosterState;
  readonly channels: ChannelsState;
  readonly reached: StreamCursors;
}

/** What has come since is read when it is asked for: the relay is behind the log by what it has not heard yet. */
export function seedAggregatesFromRelay(
  { seed }: Pick<AggregateStore, 'seed'>,
  { roster, channels, reached }: Folded,
): void {
  for (const [stream, state] of [
    [ROSTER, roster],
    [CHANNELS, channels],
  ] as const) {
    const at = reached[stream];
    if (at && at.revision >= 0) seed(stream, loadedAt(state, at));
  }
}
