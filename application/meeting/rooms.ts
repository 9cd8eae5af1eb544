/** Creates meeting rooms in advance, before anyone joins. */

import { catalog, meetingSubject } from '../../domain/meeting/catalog.js';
import { roomExists } from '../../domain/meeting/join.js';
import { DEFAULT_PARTICIPANTS, roomIdFromBytes } from '../../domain/meeting/room-id.js';
import { isExpired, roomStream } from '../../domain/meeting/state.js';
import { isRejection, type Rejection } from '../../domain/shared/index.js';
import {
  type AggregateStore,
  createRequestRecord,
  type Handled,
  type KernelPorts,
  reserveQuota,
} from '../command/index.js';
import type { CommandContext, EventLog, Vault } from '../ports/index.js';
import { roomAggregate } from './aggregates.js';
import type { RoomMetrics } from './room-metrics.js';
import type { RoomPasswords } from './room-passwords.js';
import { creatorHash, creatorToken } from './tokens.js';

export interface MeetingRoomPorts extends Pick<KernelPorts, 'handle' | 'derivation' | 'idempotency' | 'clock'> {
  readonly aggregates: Pick<AggregateStore, 'reload'>;
  readonly log: Pick<EventLog, 'retain'>;
  readonly vault: Pick<Vault, 'create'>;
  readonly passwords: Pick<RoomPasswords, 'hash'>;
  readonly roomMetrics: Pick<RoomMetrics, 'emptyRooms' | 'emptyRoomsOf' | 'reserve' | 'failed'>;
  /** Maximum number of empty rooms. */
  readonly maxLatentRooms: number;
  /** Milliseconds a disconnected participant keeps their place. */
  readonly returnMs: number;
}

/** Requested properties of a room; defaults apply to missing ones. */
export interface RoomInput {
  readonly roomId?: string | undefined;
  readonly password?: string | undefined;
  readonly maxParticipants?: number | undefined;
  readonly title?: string | undefined;
  /** Unix ms. */
  readonly scheduledStart?: number | undefined;
  readonly scheduledEnd?: number | undefined;
}

export type MeetingRooms = ReturnType<typeof createMeetingRooms>;

export const roomLimitReached: Rejection = { rejected: 'meeting/house-full', kind: 'limit', retryAfterMs: 60_000 };

/** Once half of the limit is used, each network may have a tenth of it, but at least this many rooms. */
const MIN_SHARE = 100;

/** A generated id is taken with a probability of about one in a million; repeated collisions do not occur. */
const MAX_ID_ATTEMPTS = 4;

export function createMeetingRooms(ports: MeetingRoomPorts) {
  const { handle, aggregates, idempotency, vault, derivation, passwords, roomMetrics, clock } = ports;
  const { maxLatentRooms, returnMs } = ports;
  const recordRequest = createRequestRecord(catalog, ports);

  /**
   * Creates a room. If several nodes create the same room, the first append wins. `caller` identifies the
   * network.
   */
  async function createRoom(input: RoomInput, caller: string, context: CommandContext) {
    const { password } = input;
    if (password === undefined) return create(input, caller, undefined, context);
    // Hashing is expensive: skip it for repeated requests, and charge the quota first.
    const roomId = input.roomId ?? generateRoomId(context.commandId, 0);
    const previousRun =
      context.fingerprint && (await idempotency.findResult(roomAggregate, roomStream(roomId), context));
    if (previousRun) return isRejection(previousRun) ? previousRun : createdRoom(roomId, input, context, previousRun);
    const reservation = context.quota && reserveQuota(context.quota);
    const refusal = (await reservation?.charge()) ?? (await precheck(input.roomId, caller));
    if (refusal) {
      await reservation?.refundUnused();
      return refusal;
    }
    try {
      const hash = await passwords.hash(password, caller);
      return await create(input, caller, hash, reservation ? { ...context, quota: reservation.quota } : context);
    } finally {
      await reservation?.refundUnused();
    }
  }

  function isLimitReached(caller: string): boolean {
    const emptyCount = roomMetrics.emptyRooms();
    const isScarce = emptyCount >= maxLatentRooms / 2;
    return (
      emptyCount >= maxLatentRooms ||
      (isScarce && roomMetrics.emptyRoomsOf(caller) >= Math.max(MIN_SHARE, maxLatentRooms / 10))
    );
  }

  /** Rejects requests that cannot succeed before a password is hashed for them. */
  async function precheck(roomId: string | undefined, caller: string): Promise<Rejection | undefined> {
    if (isLimitReached(caller)) return roomLimitReached;
    if (roomId === undefined) return undefined;
    const { state } = await aggregates.reload(roomAggregate, roomStream(roomId));
    return state.isOpen && !isExpired(state, clock.now()) ? roomExists : undefined;
  }

  async function create(input: RoomInput, caller: string, passwordHash: string | undefined, context: CommandContext) {
    const { title, scheduledStart, scheduledEnd } = input;
    const { commandId } = context;
    const terms = {
      meetingId: derivation.id('meeting.meeting', commandId),
      maxParticipants: input.maxParticipants ?? DEFAULT_PARTICIPANTS,
      returnMs,
      creatorHash: creatorHash(creatorToken(derivation, commandId)),
      caller,
      passwordHash,
      title,
      scheduledStart,
      scheduledEnd,
    };
    for (let attempt = 0; ; attempt++) {
      const roomId = input.roomId ?? generateRoomId(commandId, attempt);
      const outcome = await open({ type: 'OpenRoom', roomId, ...terms, now: clock.now() }, context);
      if (!isRejection(outcome)) return createdRoom(roomId, input, context, outcome);
      const canRetry = input.roomId === undefined && attempt + 1 < MAX_ID_ATTEMPTS;
      if (outcome.rejected !== 'meeting/room-exists' || !canRetry) return outcome;
    }
  }

  /** A repeated request has the same input as its first run, so the response derives from it. */
  const createdRoom = (
    roomId: string,
    { title, scheduledStart, scheduledEnd }: RoomInput,
    { commandId }: CommandContext,
    { position }: Handled<unknown>,
  ) => {
    const token = creatorToken(derivation, commandId);
    return { body: { roomId, creatorToken: token, title, scheduledStart, scheduledEnd }, position };
  };

  const generateRoomId = (commandId: string, attempt: number) =>
    roomIdFromBytes(derivation.secret('meeting.room', commandId, String(attempt)));

  /** Opens the room. Rooms being created count towards the limit; otherwise concurrent requests would exceed it. */
  async function open(
    command: Parameters<typeof roomAggregate.decider.decide>[0] & {
      readonly type: 'OpenRoom';
      readonly caller: string;
    },
    context: CommandContext,
  ): Promise<Handled<unknown> | Rejection> {
    const { roomId, meetingId, caller } = command;
    let isReserved = false;
    const prepare = async () => {
      if (isLimitReached(caller)) return roomLimitReached;
      roomMetrics.reserve(roomId, caller);
      isReserved = true;
      const keyReused = await recordRequest(context);
      if (keyReused) return keyReused;
      // Events of the meeting can't be encrypted without its key.
      await vault.create(meetingSubject({ meetingId }));
      return undefined;
    };
    let isCreated = false;
    try {
      const outcome = await handle(roomAggregate, roomStream(roomId), command, context, prepare);
      isCreated = !isRejection(outcome) && !outcome.repeated;
      return outcome;
    } finally {
      if (isReserved && !isCreated) roomMetrics.failed(roomId);
    }
  }

  return { createRoom };
}
