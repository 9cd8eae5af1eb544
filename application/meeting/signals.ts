/** What one person of a meeting tells another: relayed as it came, kept nowhere, dropped where the other is not there. */
import { notJoined } from '../../domain/meeting/entering.js';
import { personOf, type RoomState } from '../../domain/meeting/state.js';
import type { Rejection } from '../../domain/shared/decider.js';
import type { LiveRelay } from './live.js';
import type { Speaker } from './talk.js';

export interface SignalPorts {
  readonly live: LiveRelay;
  /** As it is known to be, of those that are open. */
  readonly room: (roomId: string) => RoomState | undefined;
  /** Told of each that went to somebody. */
  readonly relayed: (room: Pick<RoomState, 'meetingId'> & { readonly roomId: string }) => void;
}

export interface Signal {
  readonly type: string;
  readonly targetId: string;
  readonly [member: string]: unknown;
}

export type Signals = ReturnType<typeof createSignals>;

export function createSignals({ live, room, relayed }: SignalPorts) {
  /** `passed`: it is large, and waited for until there is room for it. */
  function relay(
    { roomId, participantId }: Speaker,
    signal: Signal,
    how: 'told' | 'passed',
  ): Promise<void> | void | Rejection {
    const state = room(roomId);
    if (!state || !personOf(state, participantId)) return notJoined;
    const target = personOf(state, signal.targetId);
    if (!target) return;
    relayed({ roomId, meetingId: state.meetingId });
    const json = JSON.stringify(signal);
    const between = { roomId, from: { id: participantId }, to: target };
    return how === 'told' ? live.tell(between, json) : live.pass(between, json);
  }

  return { relay };
}
