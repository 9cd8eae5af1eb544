/** Coming into a meeting room over a socket: as somebody new, or as who was there before their connection broke. */
import { meetingSubject } from '../../domain/meeting/catalog.js';
import { type JoinRoom, roomNotFound } from '../../domain/meeting/join.js';
import { DEFAULT_PARTICIPANTS, foldName, PASSWORD_LENGTH, roomIdOf } from '../../domain/meeting/room-id.js';
import { initialState, isExpired, type RoomState, roomStream } from '../../domain/meeting/state.js';
import { isRejection, type Rejection, sameText } from '../../domain/shared/index.js';
import { type AggregateStore, type HandleCommand, reserveQuota } from '../command/index.js';
import type { Clock, CommandContext, Derivation, Position, Quota, Vault } from '../ports/index.js';
import { roomAggregate } from './aggregates.js';
import type { RoomPasswords } from './room-passwords.js';
import { creatorHash } from './tokens.js';

/** What somebody says who comes. */
export interface JoinRequest {
  /** As people write it. */
  readonly roomId: string;
  readonly name: string;
  readonly password?: string | undefined;
  /** They make the room where there is none. */
  readonly isHost?: boolean | undefined;
  readonly creatorToken?: string | undefined;
  /** Who they were, and that they were. */
  readonly participantId?: string | undefined;
  readonly resumeToken?: string | undefined;
  /** A keyed digest of their network. */
  readonly caller: string;
  /** What to open a room costs them, where it costs anything. */
  readonly quota?: Quota | undefined;
}

/** Where what somebody is told arrives. */
export interface Seat {
  readonly id: string;
  /** Nothing more arrives. */
  leave(): void;
}

/**
 * Takes a seat before the log is told, so that nothing is missed. Who returns is told nothing there before they are
 * welcomed: until then it is for where they were.
 */
export type TakeSeat<Taken extends Seat> = (participantId: string, isReturning: boolean) => Taken;

export interface JoinResult<Taken extends Seat> {
  readonly roomId: string;
  readonly participantId: string;
  readonly seat: Taken;
  /** There was no such room before them. */
  readonly hasOpened: boolean;
  readonly position: Position;
}

export interface RoomEntryPorts {
  readonly handle: HandleCommand;
  readonly streams: AggregateStore;
  readonly vault: Pick<Vault, 'create' | 'destroy'>;
  readonly derivation: Derivation;
  readonly passwords: RoomPasswords;
  readonly clock: Clock;
  /** As it is known to be, of those that are open: the log has the last word. */
  readonly room: (roomId: string) => RoomState | undefined;
  /** The name of this process among all of the installation. */
  readonly run: string;
  /** Milliseconds for which rooms that are opened hold the place of a lost connection. */
  readonly returnMs: number;
}

export type RoomEntry = ReturnType<typeof createEntering>;

const invalidRoomId: Rejection = {
  rejected: 'meeting/invalid-room-id',
  kind: 'invalid',
  detail: 'roomId must be six of A-Z and 0-9',
};
const invalidPassword: Rejection = {
  rejected: 'meeting/invalid-password',
  kind: 'invalid',
  detail: `password must be at most ${PASSWORD_LENGTH} characters`,
};

/** Of who would open a room that others have just opened. */
const alreadyOpened: Rejection = { rejected: 'meeting/room-exists', kind: 'conflict' };

/** Others open, end and lock up rooms meanwhile: so often it is looked again. */
const ATTEMPTS = 4;

export const resumeTokenOf = (derivation: Derivation, participantId: string): string =>
  derivation.secret('meeting.resume', participantId).toString('base64url');

export function createEntering(ports: RoomEntryPorts) {
  const { handle, streams, vault, derivation, passwords, clock, room, run, returnMs } = ports;

  /** Whether they can prove who they were. */
  const hasValidResumeToken = ({ participantId, resumeToken }: JoinRequest): boolean =>
    !!participantId && !!resumeToken && sameText(resumeTokenOf(derivation, participantId), resumeToken);

  /** Resolves when it stands in the log; then they are inside, or wait. Rejects with `Unavailable`. */
  async function enter<Taken extends Seat>(
    request: JoinRequest,
    takeSeat: TakeSeat<Taken>,
    context: CommandContext,
  ): Promise<JoinResult<Taken> | Rejection> {
    const roomId = roomIdOf(request.roomId);
    if (!roomId) return request.isHost ? invalidRoomId : roomNotFound;
    return (await resume(roomId, request, takeSeat, context)) ?? joinAsNew(roomId, request, takeSeat, context);
  }

  /** Undefined where they are not known, or not there any more: then they are new. */
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
    // Before a password is hashed for it.
    const reservation = quota && reserveQuota(quota);
    let chargeResult: Promise<Rejection | undefined> | undefined;
    const charge = () => {
      chargeResult ??= reservation?.charge();
      return chargeResult;
    };
    // Nothing is read for it where it is there: if it was wrong, the refusal is of another state than this.
    let state = cachedState(stream) ?? room(roomId) ?? initialState;
    if (!access.isHost && !isActive(state)) {
      // Asking for a room that does not exist costs one read.
      ({ state } = await streams.reload(roomAggregate, stream));
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
        const command: JoinRoom = { type: 'JoinRoom', roomId, ...person, ...proof, ...authorization, now: clock.now() };
        const { opening } = authorization;
        const charged = opening && reservation ? { ...actorContext, quota: reservation.quota } : actorContext;
        const make = opening && (() => encryptionKey.make(opening));
        const outcome = await handle(roomAggregate, stream, command, charged, make);
        if (!isRejection(outcome)) {
          const hasOpened = outcome.events.some(({ type }) => type === 'RoomOpened');
          return { roomId, participantId, seat, hasOpened, position: outcome.position };
        }
        const before = state;
        ({ state } = await streams.load(roomAggregate, stream));
        if (attempt === ATTEMPTS || isUnchanged(before, state)) return outcome;
      }
    }).finally(() => reservation?.refundUnused());
    if (isRejection(result) || !result.hasOpened) await encryptionKey.drop();
    return result;
  }

  /** Of a meeting that is to be opened: without it nothing can be sealed, and it is for nothing where others open it. */
  function meetingKey(stream: string) {
    let subject: string | undefined;
    return {
      /** Refused where the room is open by now. */
      async make(opening: { readonly meetingId: string }): Promise<Rejection | undefined> {
        // The command has just looked at it.
        if (isActive(cachedState(stream) ?? initialState)) return alreadyOpened;
        subject = meetingSubject(opening);
        await vault.create(subject);
        return undefined;
      },
      /** Another node was faster. Where that fails, it is a key to nothing that stays. */
      async drop(): Promise<void> {
        if (subject !== undefined) await vault.destroy(subject).catch(() => {});
      },
    };
  }

  const cachedState = (stream: string) => streams.cached(roomAggregate, stream)?.state;

  const isActive = (state: RoomState) => state.isOpen && !isExpired(state, clock.now());

  const isUnchanged = (before: RoomState, now: RoomState) =>
    isActive(before) === isActive(now) && before.passwordHash === now.passwordHash;

  /** What opens the room: the password, where it has one, or, for its host, what it is to be. */
  async function authorize(
    state: RoomState,
    { password: passwordInput = '', isHost = false, caller }: Pick<JoinRequest, 'password' | 'isHost' | 'caller'>,
    { commandId }: CommandContext,
    charge: () => Promise<Rejection | undefined> | undefined,
  ): Promise<Pick<JoinRoom, 'opening' | 'verifiedPasswordHash'> | Rejection> {
    const password = passwordInput.trim();
    const isTooLong = [...password].length > PASSWORD_LENGTH;
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

/** Leaves the seat again where nobody came to sit there. */
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
