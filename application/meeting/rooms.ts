/** What is done with meeting rooms from outside of them: making one before anybody comes. */
import { meetingSubject } from '../../domain/meeting/catalog.js';
import { madeRoomId, USUAL_PARTICIPANTS } from '../../domain/meeting/names.js';
import { roomStream } from '../../domain/meeting/state.js';
import { isRejection, type Rejection } from '../../domain/shared/decider.js';
import type { Handle } from '../command/handle.js';
import type { Handled } from '../command/repetition.js';
import type { PasswordHashing } from '../identity-ports.js';
import type { Clock, CommandContext, Derivation, Position, Vault } from '../ports.js';
import type { Census } from './census.js';
import { roomKind } from './kinds.js';
import { hashText } from './passwords.js';
import { creatorHash, creatorToken } from './tokens.js';

export interface MeetingRoomPorts {
  readonly handle: Handle;
  readonly vault: Pick<Vault, 'create'>;
  readonly derivation: Derivation;
  readonly hashing: PasswordHashing;
  readonly census: Pick<Census, 'latent' | 'expect' | 'failed'>;
  readonly clock: Clock;
  /** Rooms that may stand empty. */
  readonly maxLatentRooms: number;
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

/** Two rooms get one name by chance once in a million times; several times in a row they don't. */
const NAMES = 4;

export function createMeetingRooms(ports: MeetingRoomPorts) {
  const { handle, vault, derivation, hashing, census, clock, maxLatentRooms } = ports;

  /** Its first command wins: another node may make the same room at the same moment. */
  async function make(
    wanted: WantedRoom,
    context: CommandContext,
  ): Promise<{ readonly body: MadeRoom; readonly position: Position } | Rejection> {
    const { title, scheduledStart, scheduledEnd } = wanted;
    const { commandId } = context;
    const token = creatorToken(derivation, commandId);
    const passwordHash = wanted.password && hashText(await hashing.hash(wanted.password));
    const terms = {
      meetingId: derivation.id('meeting.meeting', commandId),
      maxParticipants: wanted.maxParticipants ?? USUAL_PARTICIPANTS,
      creatorHash: creatorHash(token),
      passwordHash,
      title,
      scheduledStart,
      scheduledEnd,
    };
    for (let tried = 0; ; tried++) {
      const roomId = wanted.roomId ?? nameOf(commandId, tried);
      const outcome = await open({ type: 'OpenRoom', roomId, ...terms, now: clock.now() }, context);
      const isTaken = isRejection(outcome) && outcome.rejected === 'meeting/room-exists';
      if (isTaken && wanted.roomId === undefined && tried + 1 < NAMES) continue;
      if (isRejection(outcome)) return outcome;
      const body = { roomId, creatorToken: token, title, scheduledStart, scheduledEnd };
      return { body, position: outcome.position };
    }
  }

  const nameOf = (commandId: string, tried: number) =>
    madeRoomId(derivation.secret('meeting.room', commandId, String(tried)));

  /** A room that is just being made counts: else as many as come at once would find the last place free. */
  async function open(
    command: Parameters<typeof roomKind.decider.decide>[0] & { readonly type: 'OpenRoom' },
    context: CommandContext,
  ): Promise<Handled<unknown> | Rejection> {
    const { roomId, meetingId } = command;
    let isExpected = false;
    const prepare = async () => {
      if (census.latent() >= maxLatentRooms) return houseFull;
      census.expect(roomId);
      isExpected = true;
      // Without the key of its meeting nothing can be sealed.
      await vault.create(meetingSubject({ meetingId }));
      return undefined;
    };
    let isMade = false;
    try {
      const outcome = await handle(roomKind, roomStream(roomId), command, context, prepare);
      isMade = !isRejection(outcome) && !outcome.repeated;
      return outcome;
    } finally {
      if (isExpected && !isMade) census.failed(roomId);
    }
  }

  return { make };
}
