/**
 * Relays signaling messages from one participant to another. Nothing is stored; messages to absent participants
 * are dropped.
 */

import { notJoined } from '../../domain/meeting/join.js';
import { personOf, type RoomState } from '../../domain/meeting/state.js';
import { type Rejection, rejection } from '../../domain/shared/index.js';
import { createRateLimiters, createTokenBucket } from '../concurrency/index.js';
import type { Clock } from '../ports/index.js';
import type { Rooms } from './audience/snapshot.js';
import type { ParticipantRef } from './chat-messages.js';
import type { ClusterSignaling, EphemeralMessage, Route } from './cluster-signaling.js';
import { SIGNAL_BYTES } from './message-limits.js';

export interface SignalPorts {
  readonly live: ClusterSignaling;
  /** Returns the open rooms as the relay knows them. */
  readonly rooms: () => Pick<Rooms, 'get'>;
  /** Called for each relayed message. */
  readonly onRelayed: (room: Pick<RoomState, 'meetingId'> & { readonly roomId: string }) => void;
  /** Monotonic clock. */
  readonly monotonic?: Clock | undefined;
}

export interface Signal {
  readonly type: string;
  readonly targetId: string;
  readonly [member: string]: unknown;
}

export type SignalRelay = ReturnType<typeof createSignalRelay>;

/** Largest message of a client, plus the fields the server adds. */
const MAX_SIGNAL_BYTES = 1024 * 1024 + 4 * 1024;

const tooLarge = rejection('meeting/too-large', 'invalid', 'A relayed message must be at most 1 MiB of JSON');

/** Serializes a signal. Returns undefined if it is too large (`1e20` takes four times its input) or nested too deep. */
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

/** Messages of one sender that wait for slow recipients. */
interface PendingSignals {
  bytes: number;
  /** Pending deliveries and their recipients. */
  readonly deliveries: Map<Promise<void>, string>;
}

/** Bytes one sender may have pending, including the overhead per message. */
const MAX_PENDING_BYTES = 64 * 1024;
const SIGNAL_OVERHEAD_BYTES = 1024;

export function createSignalRelay({ live, rooms, onRelayed, monotonic }: SignalPorts) {
  /** Token buckets by recipient: a slow recipient is not disconnected because of others' messages. */
  const sendRates = createRateLimiters(() => createTokenBucket(SIGNAL_BYTES, monotonic));
  /** Pending messages by sender. */
  const pendingBySender = new Map<string, PendingSignals>();

  /** Sends in order behind pending messages. A slow recipient delays only messages addressed to them. */
  async function enqueue(route: Route, message: EphemeralMessage, pending: PendingSignals): Promise<void> {
    const { from, to } = route;
    const bytes = SIGNAL_OVERHEAD_BYTES + message.json.length;
    const delivery = live.sendWithBackpressure(route, message).then(() => {
      pending.bytes -= bytes;
      pending.deliveries.delete(delivery);
      if (pending.deliveries.size === 0) pendingBySender.delete(from.id);
    });
    pending.bytes += bytes;
    pending.deliveries.set(delivery, to.id);
    pendingBySender.set(from.id, pending);
    while (pending.bytes > MAX_PENDING_BYTES) await Promise.race(pending.deliveries.keys());
  }

  /**
   * Sends immediately. Over the recipient's rate it waits for their socket to drain; a sender with too much pending
   * has to wait as well.
   */
  function send(route: Route, message: EphemeralMessage): Promise<void> | void {
    const { from, to } = route;
    const { length } = message.json;
    const rate = sendRates(to.id);
    const pending = pendingBySender.get(from.id) ?? { bytes: 0, deliveries: new Map() };
    const hasPending = [...pending.deliveries.values()].includes(to.id);
    if (hasPending || rate.wait(length) > 0) return enqueue(route, message, pending);
    rate.consume(length);
    live.send(route, message);
  }

  /** `backpressure`: large messages, which wait until the recipient's socket has drained. */
  function relay(
    { roomId, participantId }: ParticipantRef,
    signal: Signal,
    mode: 'direct' | 'backpressure',
  ): Promise<void> | void | Rejection {
    const state = rooms().get(roomId);
    if (!state || !personOf(state, participantId)) return notJoined;
    const target = personOf(state, signal.targetId);
    if (!target) return;
    const json = serialize(signal);
    if (json === undefined) return tooLarge;
    onRelayed({ roomId, meetingId: state.meetingId });
    const route = { roomId, from: { id: participantId }, to: target };
    return mode === 'backpressure' ? live.sendWithBackpressure(route, { json }) : send(route, { json });
  }

  return { relay, send };
}
