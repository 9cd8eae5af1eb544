/** What the relay has folded of the log is what commands are decided on, too: it need not be read twice. */
import { CHANNELS, type ChannelsState } from '../../domain/chat/channels.js';
import { ROSTER, type RosterState } from '../../domain/chat/roster.js';
import type { Streams } from '../command/aggregate-store.js';
import { loadedAt, type Reaches } from '../subscription/stream-cursors.js';

export interface Folded {
  readonly roster: RosterState;
  readonly channels: ChannelsState;
  readonly reached: Reaches;
}

/** What has come since is read when it is asked for: the relay is behind the log by what it has not heard yet. */
export function baseOnFolded({ base }: Pick<Streams, 'base'>, { roster, channels, reached }: Folded): void {
  for (const [stream, state] of [
    [ROSTER, roster],
    [CHANNELS, channels],
  ] as const) {
    const at = reached[stream];
    if (at && at.revision >= 0) base(stream, loadedAt(state, at));
  }
}
