/** What one person of a meeting tells another: relayed as it came, kept nowhere, dropped where the other is not there. */
import { notJoined } from '../../domain/meeting/join.js';
import { personOf, type RoomState } from '../../domain/meeting/state.js';
import type { Rejection } from '../../domain/shared/index.js';
import { createTokenBuckets } from '../concurrency/index.js';
import type { Clock } from '../ports/index.js';
import type { ParticipantRef } from './chat-messages.js';
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

export type SignalRelay = ReturnType<typeof createSignals>;

/** As much as may come, and who it is of. */
const MAX_SIGNAL_BYTES = 1024 * 1024 + 4 * 1024;

const tooLarge: Rejection = {
  rejected: 'meeting/too-large',
  kind: 'invalid',
  detail: 'What is passed on must be at most 1 MiB, written out',
};

/** Undefined where there is too much of it: `1e20` takes four times as much as it came with, and some is nested too deep. */
function serialize(signal: Signal): string | undefined {
  try {
    const json = JSON.stringify(signal);
    const fits = json.length * 3 <= MAX_SIGNAL_BYTES || Buffer.byteLength(json) <= MAX_SIGNAL_BYTES;
    return fits ? json : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** What was told in masses by one person, and waits for others to read. */
interface PendingSignals {
  bytes: number;
  /** Each, and who it is for. */
  readonly deliveries: Map<Promise<void>, string>;
}

/** Of it, and what each takes in memory besides. */
const MAX_PENDING_BYTES = 64 * 1024;
const SIGNAL_OVERHEAD_BYTES = 1024;

export function createSignals({ live, room, relayed, monotonic }: SignalPorts) {
  /** By whom it is for: whatever others tell somebody, nobody is cut for not reading it at once. */
  const sendRates = createTokenBuckets(SIGNAL_BYTES, monotonic);
  /** What waits to be read of somebody, by who says it. */
  const pendingBySender = new Map<string, PendingSignals>();

  /** In order with what waits: who does not read holds up what is told them, and not what is told the rest. */
  async function enqueue(signalRoute: Route, message: EphemeralMessage, pending: PendingSignals): Promise<void> {
    const { from, to } = signalRoute;
    const bytes = SIGNAL_OVERHEAD_BYTES + message.json.length;
    const delivery = live.pass(signalRoute, message).then(() => {
      pending.bytes -= bytes;
      pending.deliveries.delete(delivery);
      if (pending.deliveries.size === 0) pendingBySender.delete(from.id);
    });
    pending.bytes += bytes;
    pending.deliveries.set(delivery, to.id);
    pendingBySender.set(from.id, pending);
    while (pending.bytes > MAX_PENDING_BYTES) await Promise.race(pending.deliveries.keys());
  }

  /** At once; in masses once there is room for it: with too much that waits for that, so does who says it. */
  function send(signalRoute: Route, message: EphemeralMessage): Promise<void> | void {
    const { from, to } = signalRoute;
    const { length } = message.json;
    const rate = sendRates(to.id);
    const pending = pendingBySender.get(from.id) ?? { bytes: 0, deliveries: new Map() };
    const hasPending = [...pending.deliveries.values()].includes(to.id);
    if (hasPending || rate.wait(length) > 0) return enqueue(signalRoute, message, pending);
    rate.consume(length);
    live.tell(signalRoute, message);
  }

  /** `passed`: it is large, and waited for until there is room for it. */
  function relay(
    { roomId, participantId }: ParticipantRef,
    signal: Signal,
    mode: 'direct' | 'backpressure',
  ): Promise<void> | void | Rejection {
    const state = room(roomId);
    if (!state || !personOf(state, participantId)) return notJoined;
    const target = personOf(state, signal.targetId);
    if (!target) return;
    const json = serialize(signal);
    if (json === undefined) return tooLarge;
    relayed({ roomId, meetingId: state.meetingId });
    const signalRoute = { roomId, from: { id: participantId }, to: target };
    return mode === 'backpressure' ? live.pass(signalRoute, { json }) : send(signalRoute, { json });
  }

  return { relay, send };
}
