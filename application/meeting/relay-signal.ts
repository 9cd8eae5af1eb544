/** What one person of a meeting tells another: relayed as it came, kept nowhere, dropped where the other is not there. */
import { notJoined } from '../../domain/meeting/join.js';
import { personOf, type RoomState } from '../../domain/meeting/state.js';
import type { Rejection } from '../../domain/shared/index.js';
import { createTokenBuckets } from '../concurrency/index.js';
import type { Clock } from '../ports/index.js';
import type { Speaker } from './chat-messages.js';
import { SIGNAL_BYTES } from './message-limits.js';
import type { EphemeralMessage, LiveRelay, Route } from './signaling-port.js';

export interface SignalPorts {
  readonly live: LiveRelay;
  /** As it is known to be, of those that are open. */
  readonly room: (roomId: string) => RoomState | undefined;
  /** Told of each that went to somebody. */
  readonly relayed: (room: Pick<RoomState, 'meetingId'> & { readonly roomId: string }) => void;
  /** Of what only ever goes on. */
  readonly monotonic?: Clock | undefined;
}

export interface Signal {
  readonly type: string;
  readonly targetId: string;
  readonly [member: string]: unknown;
}

export type Signals = ReturnType<typeof createSignals>;

/** As much as may come, and who it is of. */
const MOST_BYTES = 1024 * 1024 + 4 * 1024;

const tooLarge: Rejection = {
  rejected: 'meeting/too-large',
  kind: 'invalid',
  detail: 'What is passed on must be at most 1 MiB, written out',
};

/** Undefined where there is too much of it: `1e20` takes four times as much as it came with, and some is nested too deep. */
function written(signal: Signal): string | undefined {
  try {
    const json = JSON.stringify(signal);
    const fits = json.length * 3 <= MOST_BYTES || Buffer.byteLength(json) <= MOST_BYTES;
    return fits ? json : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** What was told in masses by one person, and waits for others to read. */
interface Unread {
  bytes: number;
  /** Each, and who it is for. */
  readonly passing: Map<Promise<void>, string>;
}

/** Of it, and what each takes in memory besides. */
const MOST_UNREAD = 64 * 1024;
const OVERHEAD = 1024;

export function createSignals({ live, room, relayed, monotonic }: SignalPorts) {
  /** By whom it is for: whatever others tell somebody, nobody is cut for not reading it at once. */
  const told = createTokenBuckets(SIGNAL_BYTES, monotonic);
  /** What waits to be read of somebody, by who says it. */
  const unread = new Map<string, Unread>();

  /** In order with what waits: who does not read holds up what is told them, and not what is told the rest. */
  async function wait(between: Route, message: EphemeralMessage, mine: Unread): Promise<void> {
    const { from, to } = between;
    const bytes = OVERHEAD + message.json.length;
    const passed = live.pass(between, message).then(() => {
      mine.bytes -= bytes;
      mine.passing.delete(passed);
      if (mine.passing.size === 0) unread.delete(from.id);
    });
    mine.bytes += bytes;
    mine.passing.set(passed, to.id);
    unread.set(from.id, mine);
    while (mine.bytes > MOST_UNREAD) await Promise.race(mine.passing.keys());
  }

  /** At once; in masses once there is room for it: with too much that waits for that, so does who says it. */
  function tell(between: Route, message: EphemeralMessage): Promise<void> | void {
    const { from, to } = between;
    const { length } = message.json;
    const pace = told(to.id);
    const mine = unread.get(from.id) ?? { bytes: 0, passing: new Map() };
    const isBehind = [...mine.passing.values()].includes(to.id);
    if (isBehind || pace.wait(length) > 0) return wait(between, message, mine);
    pace.consume(length);
    live.tell(between, message);
  }

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
    const json = written(signal);
    if (json === undefined) return tooLarge;
    relayed({ roomId, meetingId: state.meetingId });
    const between = { roomId, from: { id: participantId }, to: target };
    return how === 'passed' ? live.pass(between, { json }) : tell(between, { json });
  }

  return { relay, tell };
}
