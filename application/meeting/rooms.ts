/** What is done with meeting rooms from outside of them: making one before anybody comes. */
import { meetingSubject } from '../../domain/meeting/catalog.js';
import { roomExists } from '../../domain/meeting/join.js';
import { madeRoomId, USUAL_PARTICIPANTS } from '../../domain/meeting/room-id.js';
import { REQUEST_SECONDS, requestStream } from '../../domain/meeting/room-request.js';
import { isOver, roomStream } from '../../domain/meeting/state.js';
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
export interface WantedRoom {
  readonly roomId?: string | undefined;
  readonly password?: string | undefined;
  readonly maxParticipants?: number | undefined;
  readonly title?: string | undefined;
  /** Unix ms. */
  readonly scheduledStart?: number | undefined;
  readonly scheduledEnd?: number | undefined;
}

export interface MadeRoom {
  readonly roomId: string;
  readonly creatorToken: string;
  readonly title?: string | undefined;
  readonly scheduledStart?: number | undefined;
  readonly scheduledEnd?: number | undefined;
}

export type MeetingRooms = ReturnType<typeof createMeetingRooms>;

export const houseFull: Rejection = { rejected: 'meeting/house-full', kind: 'limit', retryAfterMs: 60_000 };

/** Of the places, when half of them are taken, no network may have more than a tenth, or so many: the rest is for others. */
const SHARE = 100;

/** Two rooms get one name by chance once in a million times; several times in a row they don't. */
const NAMES = 4;

export function createMeetingRooms(ports: MeetingRoomPorts) {
  const { handle, streams, repetition, log, vault, derivation, passwords, census, clock } = ports;
  const { maxLatentRooms, returnMs } = ports;

  /** Its first command wins: another node may make the same room at the same moment. `caller` tells networks apart. */
  async function make(
    wanted: WantedRoom,
    caller: string,
    context: CommandContext,
  ): Promise<{ readonly body: MadeRoom; readonly position: Position } | Rejection> {
    const { password } = wanted;
    if (password === undefined) return begin(wanted, caller, undefined, context);
    // To hash costs much: nobody has it done for nothing, nor more often than they may make rooms.
    const roomId = wanted.roomId ?? nameOf(context.commandId, 0);
    const earlier = context.fingerprint && (await repetition.findResult(roomAggregate, roomStream(roomId), context));
    if (earlier) return isRejection(earlier) ? earlier : told(roomId, wanted, context, earlier);
    const paid = context.quota && reserveQuota(context.quota);
    const refusal = (await paid?.charge()) ?? (await hopeless(wanted.roomId, caller));
    if (refusal) {
      await paid?.refundUnused();
      return refusal;
    }
    try {
      const hash = await passwords.hash(password, caller);
      return await begin(wanted, caller, hash, paid ? { ...context, quota: paid.quota } : context);
    } finally {
      await paid?.refundUnused();
    }
  }

  function isFullFor(caller: string): boolean {
    const latent = census.emptyRooms();
    const isScarce = latent >= maxLatentRooms / 2;
    return latent >= maxLatentRooms || (isScarce && census.latentOf(caller) >= Math.max(SHARE, maxLatentRooms / 10));
  }

  /** What is refused gets back what it cost: so nothing is hashed for it. */
  async function hopeless(roomId: string | undefined, caller: string): Promise<Rejection | undefined> {
    if (isFullFor(caller)) return houseFull;
    if (roomId === undefined) return undefined;
    const { state } = await streams.reload(roomAggregate, roomStream(roomId));
    return state.isOpen && !isOver(state, clock.now()) ? roomExists : undefined;
  }

  async function begin(wanted: WantedRoom, caller: string, passwordHash: string | undefined, context: CommandContext) {
    const { title, scheduledStart, scheduledEnd } = wanted;
    const { commandId } = context;
    const terms = {
      meetingId: derivation.id('meeting.meeting', commandId),
      maxParticipants: wanted.maxParticipants ?? USUAL_PARTICIPANTS,
      returnMs,
      creatorHash: creatorHash(creatorToken(derivation, commandId)),
      caller,
      passwordHash,
      title,
      scheduledStart,
      scheduledEnd,
    };
    for (let tried = 0; ; tried++) {
      const roomId = wanted.roomId ?? nameOf(commandId, tried);
      const outcome = await open({ type: 'OpenRoom', roomId, ...terms, now: clock.now() }, context);
      if (!isRejection(outcome)) return told(roomId, wanted, context, outcome);
      const mayTryOther = wanted.roomId === undefined && tried + 1 < NAMES;
      if (outcome.rejected !== 'meeting/room-exists' || !mayTryOther) return outcome;
    }
  }

  /** A repetition asks for the same as its first run: it is answered from what it asks. */
  const told = (
    roomId: string,
    { title, scheduledStart, scheduledEnd }: WantedRoom,
    { commandId }: CommandContext,
    { position }: Handled<unknown>,
  ) => {
    const token = creatorToken(derivation, commandId);
    return { body: { roomId, creatorToken: token, title, scheduledStart, scheduledEnd }, position };
  };

  const nameOf = (commandId: string, tried: number) =>
    madeRoomId(derivation.secret('meeting.room', commandId, String(tried)));

  /** A room that is just being made counts: else as many as come at once would find the last place free. */
  async function open(
    command: Parameters<typeof roomAggregate.decider.decide>[0] & {
      readonly type: 'OpenRoom';
      readonly caller: string;
    },
    context: CommandContext,
  ): Promise<Handled<unknown> | Rejection> {
    const { roomId, meetingId, caller } = command;
    let isExpected = false;
    const prepare = async () => {
      if (isFullFor(caller)) return houseFull;
      census.reserve(roomId, caller);
      isExpected = true;
      const misused = context.fingerprint === undefined ? undefined : await note(roomId, meetingId, context);
      if (misused) return misused;
      // Without the key of its meeting nothing can be sealed.
      await vault.create(meetingSubject({ meetingId }));
      return undefined;
    };
    let isMade = false;
    try {
      const outcome = await handle(roomAggregate, roomStream(roomId), command, context, prepare);
      isMade = !isRejection(outcome) && !outcome.repeated;
      return outcome;
    } finally {
      if (isExpected && !isMade) census.failed(roomId);
    }
  }

  /** The same key may not make another room: told by a stream that is found by the key alone. */
  async function note(roomId: string, meetingId: string, context: CommandContext) {
    const { quota: _, ...free } = context;
    const stream = requestStream(derivation.id('meeting.request', context.commandId));
    const keep = async () => {
      await log.retain(stream, { maxAgeSeconds: REQUEST_SECONDS });
      return undefined;
    };
    const command = { type: 'RequestRoom' as const, roomId, meetingId, now: clock.now() };
    const outcome = await handle(requestAggregate, stream, command, free, keep);
    return isRejection(outcome) ? outcome : undefined;
  }

  return { make };
}
