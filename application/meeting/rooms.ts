/** What is done with meeting rooms from outside of them: making one before anybody comes. */
import { meetingSubject } from '../../domain/meeting/catalog.js';
import { roomExists } from '../../domain/meeting/join.js';
import { DEFAULT_PARTICIPANTS, roomIdFromBytes } from '../../domain/meeting/room-id.js';
import { REQUEST_SECONDS, requestStream } from '../../domain/meeting/room-request.js';
import { isExpired, roomStream } from '../../domain/meeting/state.js';
import { isRejection, type Rejection } from '../../domain/shared/index.js';
import {
  type AggregateStore,
  type HandleCommand,
  type Handled,
  type Idempotency,
  reserveQuota,
} from '../command/index.js';
import type { Clock, CommandContext, Derivation, EventLog, Position, Vault } from '../ports/index.js';
import { requestAggregate, roomAggregate } from './aggregates.js';
import type { Census } from './room-metrics.js';
import type { RoomPasswords } from './room-passwords.js';
import { creatorHash, creatorToken } from './tokens.js';

export interface MeetingRoomPorts {
  readonly handle: HandleCommand;
  readonly streams: Pick<AggregateStore, 'reload'>;
  readonly log: Pick<EventLog, 'retain'>;
  readonly vault: Pick<Vault, 'create'>;
  readonly derivation: Derivation;
  readonly repetition: Idempotency;
  readonly passwords: Pick<RoomPasswords, 'hash'>;
  readonly census: Pick<Census, 'emptyRooms' | 'latentOf' | 'reserve' | 'failed'>;
  readonly clock: Clock;
  /** Rooms that may stand empty. */
  readonly maxLatentRooms: number;
  /** Milliseconds for which the rooms hold the place of a lost connection. */
  readonly returnMs: number;
}

/** As it is asked for; what is not said is as usual, or there is none. */
export interface RoomInput {
  readonly roomId?: string | undefined;
  readonly password?: string | undefined;
  readonly maxParticipants?: number | undefined;
  readonly title?: string | undefined;
  /** Unix ms. */
  readonly scheduledStart?: number | undefined;
  readonly scheduledEnd?: number | undefined;
}

export interface CreatedRoom {
  readonly roomId: string;
  readonly creatorToken: string;
  readonly title?: string | undefined;
  readonly scheduledStart?: number | undefined;
  readonly scheduledEnd?: number | undefined;
}

export type MeetingRooms = ReturnType<typeof createMeetingRooms>;

export const roomLimitReached: Rejection = { rejected: 'meeting/house-full', kind: 'limit', retryAfterMs: 60_000 };

/** Of the places, when half of them are taken, no network may have more than a tenth, or so many: the rest is for others. */
const MIN_SHARE = 100;

/** Two rooms get one name by chance once in a million times; several times in a row they don't. */
const MAX_ID_ATTEMPTS = 4;

export function createMeetingRooms(ports: MeetingRoomPorts) {
  const { handle, streams, repetition, log, vault, derivation, passwords, census, clock } = ports;
  const { maxLatentRooms, returnMs } = ports;

  /** Its first command wins: another node may make the same room at the same moment. `caller` tells networks apart. */
  async function make(
    input: RoomInput,
    caller: string,
    context: CommandContext,
  ): Promise<{ readonly body: CreatedRoom; readonly position: Position } | Rejection> {
    const { password } = input;
    if (password === undefined) return create(input, caller, undefined, context);
    // To hash costs much: nobody has it done for nothing, nor more often than they may make rooms.
    const roomId = input.roomId ?? generateRoomId(context.commandId, 0);
    const previousRun =
      context.fingerprint && (await repetition.findResult(roomAggregate, roomStream(roomId), context));
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
    const emptyCount = census.emptyRooms();
    const isScarce = emptyCount >= maxLatentRooms / 2;
    return (
      emptyCount >= maxLatentRooms || (isScarce && census.latentOf(caller) >= Math.max(MIN_SHARE, maxLatentRooms / 10))
    );
  }

  /** What is refused gets back what it cost: so nothing is hashed for it. */
  async function precheck(roomId: string | undefined, caller: string): Promise<Rejection | undefined> {
    if (isLimitReached(caller)) return roomLimitReached;
    if (roomId === undefined) return undefined;
    const { state } = await streams.reload(roomAggregate, roomStream(roomId));
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

  /** A repetition asks for the same as its first run: it is answered from what it asks. */
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

  /** A room that is just being made counts: else as many as come at once would find the last place free. */
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
      census.reserve(roomId, caller);
      isReserved = true;
      const keyReused = context.fingerprint === undefined ? undefined : await recordRequest(roomId, meetingId, context);
      if (keyReused) return keyReused;
      // Without the key of its meeting nothing can be sealed.
      await vault.create(meetingSubject({ meetingId }));
      return undefined;
    };
    let isCreated = false;
    try {
      const outcome = await handle(roomAggregate, roomStream(roomId), command, context, prepare);
      isCreated = !isRejection(outcome) && !outcome.repeated;
      return outcome;
    } finally {
      if (isReserved && !isCreated) census.failed(roomId);
    }
  }

  /** The same key may not make another room: told by a stream that is found by the key alone. */
  async function recordRequest(roomId: string, meetingId: string, context: CommandContext) {
    const { quota: _, ...unchargedContext } = context;
    const stream = requestStream(derivation.id('meeting.request', context.commandId));
    const retainStream = async () => {
      await log.retain(stream, { maxAgeSeconds: REQUEST_SECONDS });
      return undefined;
    };
    const command = { type: 'RequestRoom' as const, roomId, meetingId, now: clock.now() };
    const outcome = await handle(requestAggregate, stream, command, unchargedContext, retainStream);
    return isRejection(outcome) ? outcome : undefined;
  }

  return { make };
}
