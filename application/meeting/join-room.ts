/** Joins a room over a socket: as a new participant, or resuming an earlier one with a resume token. */

import { meetingSubject } from '../../domain/meeting/catalog.js';
import type { Command } from '../../domain/meeting/commands.js';
import { roomNotFound } from '../../domain/meeting/join.js';
import { DEFAULT_PARTICIPANTS, foldName, PASSWORD_LENGTH, roomIdOf } from '../../domain/meeting/room-id.js';
import { initialState, isExpired, type RoomState, roomStream } from '../../domain/meeting/state.js';
import { isRejection, lengthOf, type Rejection, rejection, sameText } from '../../domain/shared/index.js';
import { type KernelPorts, reserveQuota } from '../command/index.js';
import type { CommandContext, Derivation, Position, Quota, Vault } from '../ports/index.js';
import { roomAggregate } from './aggregates.js';
import type { Rooms } from './audience/snapshot.js';
import type { RoomPasswords } from './room-passwords.js';
import { creatorHash } from './tokens.js';

/** A client's request to join a room. */
export interface JoinRequest {
  /** As typed: in either case, surrounded by spaces. */
  readonly roomId: string;
  readonly name: string;
  readonly password?: string | undefined;
  /** Opens the room if it does not exist. */
  readonly isHost?: boolean | undefined;
  readonly creatorToken?: string | undefined;
  /** The earlier participant, and the token that proves it. */
  readonly participantId?: string | undefined;
  readonly resumeToken?: string | undefined;
  /** Keyed digest of the client's network. */
  readonly caller: string;
  /** Charged if joining opens a room. */
  readonly quota?: Quota | undefined;
}

/** Receives a participant's messages. */
export interface Seat {
  readonly id: string;
  /** Stops delivery. */
  leave(): void;
}

/**
 * Takes a seat before the command is appended, so that no event is missed. With `isReturning` the seat stays
 * silent until `welcome`: earlier events are for the previous seat.
 */
export type TakeSeat<Taken extends Seat> = (participantId: string, isReturning: boolean) => Taken;

export interface JoinResult<Taken extends Seat> {
  readonly roomId: string;
  readonly participantId: string;
  readonly seat: Taken;
  /** Whether the join opened the room. */
  readonly hasOpened: boolean;
  readonly position: Position;
}

export interface RoomEntryPorts extends Pick<KernelPorts, 'handle' | 'aggregates' | 'derivation' | 'clock'> {
  readonly vault: Pick<Vault, 'create' | 'destroy'>;
  readonly passwords: RoomPasswords;
  /** Returns the open rooms as the relay knows them. They may lag behind the event log, which decides. */
  readonly rooms: () => Pick<Rooms, 'get'>;
  /** Id of this process in the cluster. */
  readonly run: string;
  /** Milliseconds a disconnected participant keeps their place, for rooms opened here. */
  readonly returnMs: number;
}

export type RoomEntry = ReturnType<typeof createRoomEntry>;

const invalidRoomId = rejection('meeting/invalid-room-id', 'invalid', 'roomId must be 6 characters of A-Z and 0-9');
const invalidPassword = rejection(
  'meeting/invalid-password',
  'invalid',
  `password must be at most ${PASSWORD_LENGTH} characters`,
);

/** Another participant opened the room meanwhile; the join is retried. */
const alreadyOpened: Rejection = { rejected: 'meeting/room-exists', kind: 'conflict' };

/** Attempts to join while others open, end or lock the room. */
const ATTEMPTS = 4;

export const resumeTokenOf =
  (derivation: Derivation) =>
  (participantId: string): string =>
    derivation.secret('meeting.resume', participantId).toString('base64url');

export function createRoomEntry(ports: RoomEntryPorts) {
  const { handle, aggregates, vault, derivation, passwords, clock, rooms, run, returnMs } = ports;

  /** Whether the resume token is valid for the participant id. */
  const hasValidResumeToken = ({ participantId, resumeToken }: JoinRequest): boolean =>
    !!participantId && !!resumeToken && sameText(resumeTokenOf(derivation)(participantId), resumeToken);

  /** Resolves once the events are flushed; the participant is inside then, or waits. Throws `UnavailableError`. */
  async function enter<Taken extends Seat>(
    request: JoinRequest,
    takeSeat: TakeSeat<Taken>,
    context: CommandContext,
  ): Promise<JoinResult<Taken> | Rejection> {
    const roomId = roomIdOf(request.roomId);
    if (!roomId) return request.isHost ? invalidRoomId : roomNotFound;
    return (await resume(roomId, request, takeSeat, context)) ?? joinAsNew(roomId, request, takeSeat, context);
  }

  /** Returns undefined if the token is invalid or the participant can't return; they join as new then. */
  async function resume<Taken extends Seat>(
    roomId: string,
    request: JoinRequest,
    takeSeat: TakeSeat<Taken>,
    context: CommandContext,
  ): Promise<JoinResult<Taken> | undefined> {
    if (!hasValidResumeToken(request)) return undefined;
    const participantId = request.participantId!;
    return withSeat(takeSeat(participantId, true), async (seat) => {
      const command = { type: 'ReturnToRoom' as const, roomId, participantId, node: run, seat: seat.id };
      const actorContext = { ...context, actor: participantId };
      const outcome = await handle(roomAggregate, roomStream(roomId), { ...command, now: clock.now() }, actorContext);
      if (isRejection(outcome)) return undefined;
      return { roomId, participantId, seat, hasOpened: false, position: outcome.position };
    });
  }

  async function joinAsNew<Taken extends Seat>(
    roomId: string,
    request: JoinRequest,
    takeSeat: TakeSeat<Taken>,
    context: CommandContext,
  ): Promise<JoinResult<Taken> | Rejection> {
    const { name, creatorToken, quota, ...access } = request;
    const participantId = derivation.id('meeting.participant', context.commandId);
    const stream = roomStream(roomId);
    const actorContext = { ...context, actor: participantId };
    // Reserved before a password is hashed.
    const reservation = quota && reserveQuota(quota);
    let chargeResult: Promise<Rejection | undefined> | undefined;
    const charge = () => {
      chargeResult ??= reservation?.charge();
      return chargeResult;
    };
    // Uses the cached state, which saves a read. If it is stale, the command is rejected and retried on the
    // current state.
    let state = cachedState(stream) ?? rooms().get(roomId) ?? initialState;
    if (!access.isHost && !isActive(state)) {
      // Joining a room that does not exist costs one read.
      ({ state } = await aggregates.reload(roomAggregate, stream));
      if (!isActive(state)) return roomNotFound;
    }
    const encryptionKey = meetingKey(stream);
    const result = await withSeat(takeSeat(participantId, false), async (seat) => {
      const caller = derivation.id('meeting.person', access.caller, foldName(name));
      const formerId = hasValidResumeToken(request) ? request.participantId : undefined;
      const person = { participantId, name, caller, formerId, node: run, seat: seat.id };
      const proof = creatorToken === undefined ? {} : { creatorHash: creatorHash(creatorToken) };
      for (let attempt = 1; ; attempt++) {
        const authorization = await authorize(state, access, context, charge);
        if (isRejection(authorization)) return authorization;
        const command: Command<'JoinRoom'> = {
          type: 'JoinRoom',
          roomId,
          ...person,
          ...proof,
          ...authorization,
          now: clock.now(),
        };
        const { opening } = authorization;
        const charged = opening && reservation ? { ...actorContext, quota: reservation.quota } : actorContext;
        const make = opening && (() => encryptionKey.make(opening));
        const outcome = await handle(roomAggregate, stream, command, charged, make);
        if (!isRejection(outcome)) {
          const hasOpened = outcome.events.some(({ type }) => type === 'RoomOpened');
          return { roomId, participantId, seat, hasOpened, position: outcome.position };
        }
        const before = state;
        ({ state } = await aggregates.load(roomAggregate, stream));
        if (attempt === ATTEMPTS || isUnchanged(before, state)) return outcome;
      }
    }).finally(() => reservation?.refundUnused());
    if (isRejection(result) || !result.hasOpened) await encryptionKey.drop();
    return result;
  }

  /**
   * Key of a meeting that is being opened. Events can't be encrypted without it; it is dropped if another
   * participant opens the room first.
   */
  function meetingKey(stream: string) {
    let subject: string | undefined;
    return {
      /** Creates the key; rejects if the room is open already. */
      async make(opening: { readonly meetingId: string }): Promise<Rejection | undefined> {
        // The command has just loaded the room.
        if (isActive(cachedState(stream) ?? initialState)) return alreadyOpened;
        subject = meetingSubject(opening);
        await vault.create(subject);
        return undefined;
      },
      /** Destroys an unused key. A failure is ignored, because nothing is encrypted with it. */
      async drop(): Promise<void> {
        if (subject !== undefined) await vault.destroy(subject).catch(() => {});
      },
    };
  }

  const cachedState = (stream: string) => aggregates.cached(roomAggregate, stream)?.state;

  const isActive = (state: RoomState) => state.isOpen && !isExpired(state, clock.now());

  const isUnchanged = (before: RoomState, now: RoomState) =>
    isActive(before) === isActive(now) && before.passwordHash === now.passwordHash;

  /** Returns what admits the client: the verified password hash, or for a host the terms of the new room. */
  async function authorize(
    state: RoomState,
    { password: passwordInput = '', isHost = false, caller }: Pick<JoinRequest, 'password' | 'isHost' | 'caller'>,
    { commandId }: CommandContext,
    charge: () => Promise<Rejection | undefined> | undefined,
  ): Promise<Pick<Command<'JoinRoom'>, 'opening' | 'verifiedPasswordHash'> | Rejection> {
    const password = passwordInput.trim();
    const isTooLong = lengthOf(password) > PASSWORD_LENGTH;
    if (isActive(state)) {
      const { passwordHash: storedHash } = state;
      if (storedHash === undefined || password === '' || isTooLong) return {};
      return (await passwords.matches(password, storedHash, caller)) ? { verifiedPasswordHash: storedHash } : {};
    }
    if (!isHost) return {};
    if (isTooLong) return invalidPassword;
    const refusal = await charge();
    if (refusal) return refusal;
    const passwordHash = password === '' ? undefined : await passwords.hash(password, caller);
    const meetingId = derivation.id('meeting.meeting', commandId);
    return { opening: { meetingId, maxParticipants: DEFAULT_PARTICIPANTS, passwordHash, returnMs } };
  }

  return { enter, hasValidResumeToken };
}

/** Runs `work` and leaves the seat again if it fails or is rejected. */
async function withSeat<Taken extends Seat, Outcome>(
  seat: Taken,
  work: (seat: Taken) => Promise<Outcome>,
): Promise<Outcome> {
  let outcome: Outcome | undefined;
  try {
    outcome = await work(seat);
    return outcome;
  } finally {
    if (!outcome || isRejection(outcome)) seat.leave();
  }
}
