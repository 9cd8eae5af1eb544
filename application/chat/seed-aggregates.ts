/** Seeds the aggregate cache with the relay's state, so that streams are not read twice. */

import type { catalog } from '../../domain/chat/catalog.js';
import { CHANNELS, type ChannelsState } from '../../domain/chat/channels.js';
import { ROSTER, type RosterState } from '../../domain/chat/roster.js';
import { sessionStream } from '../../domain/chat/session.js';
import type { AggregateStore } from '../command/index.js';
import { aggregateAt, type LiveEvent, type StreamCursors } from '../subscription/index.js';

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

/** Creates the handler that drops erased data from the relay's buffer and from cached aggregates. */
export const forgetErased =
  (streams: Pick<AggregateStore, 'forget' | 'seed'>, relay: { state(): Folded; clear(): void }) =>
  (event: LiveEvent<typeof catalog>): void => {
    if (event.type === 'UserErased') {
      relay.clear();
      streams.forget(sessionStream(event.data.userId));
    }
    // The relay's state no longer has the erased data.
    if (event.type === 'UserErased' || event.type === 'ChannelDeleted') seedAggregatesFromRelay(streams, relay.state());
  };
