/** Coming into a meeting room over a socket: as somebody new, or as who was there before their connection broke. */
import { meetingSubject } from '../../domain/meeting/catalog.js';
import { type JoinRoom, roomNotFound } from '../../domain/meeting/join.js';
import { foldName, PASSWORD_LENGTH, roomIdOf, USUAL_PARTICIPANTS } from '../../domain/meeting/room-id.js';
import { initialState, isOver, type RoomState, roomStream } from '../../domain/meeting/state.js';
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

export interface EnteringPorts {
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

export type Entering = ReturnType<typeof createEntering>;

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
const openedMeanwhile: Rejection = { rejected: 'meeting/room-exists', kind: 'conflict' };

/** Others open, end and lock up rooms meanwhile: so often it is looked again. */
const ATTEMPTS = 4;

export const resumeTokenOf = (derivation: Derivation, participantId: string): string =>
  derivation.secret('meeting.resume', participantId).toString('base64url');

export function createEntering(ports: EnteringPorts) {
  const { handle, streams, vault, derivation, passwords, clock, room, run, returnMs } = ports;

  /** Whether they can prove who they were. */
  const isKnown = ({ participantId, resumeToken }: JoinRequest): boolean =>
    !!participantId && !!resumeToken && sameText(resumeTokenOf(derivation, participantId), resumeToken);

  /** Resolves when it stands in the log; then they are inside, or wait. Rejects with `Unavailable`. */
  async function enter<Taken extends Seat>(
    arrival: JoinRequest,
    take: TakeSeat<Taken>,
    context: CommandContext,
  ): Promise<JoinResult<Taken> | Rejection> {
    const roomId = roomIdOf(arrival.roomId);
    if (!roomId) return arrival.isHost ? invalidRoomId : roomNotFound;
    return (await comeBack(roomId, arrival, take, context)) ?? come(roomId, arrival, take, context);
  }

  /** Undefined where they are not known, or not there any more: then they are new. */
  async function comeBack<Taken extends Seat>(
    roomId: string,
    arrival: JoinRequest,
    take: TakeSeat<Taken>,
    context: CommandContext,
  ): Promise<JoinResult<Taken> | undefined> {
    if (!isKnown(arrival)) return undefined;
    const participantId = arrival.participantId!;
    return seated(take(participantId, true), async (seat) => {
      const command = { type: 'ReturnToRoom' as const, roomId, participantId, node: run, seat: seat.id };
      const by = { ...context, actor: participantId };
      const outcome = await handle(roomAggregate, roomStream(roomId), { ...command, now: clock.now() }, by);
      if (isRejection(outcome)) return undefined;
      return { roomId, participantId, seat, hasOpened: false, position: outcome.position };
    });
  }

  async function come<Taken extends Seat>(
    roomId: string,
    arrival: JoinRequest,
    take: TakeSeat<Taken>,
    context: CommandContext,
  ): Promise<JoinResult<Taken> | Rejection> {
    const { name, creatorToken, quota, ...wish } = arrival;
    const participantId = derivation.id('meeting.participant', context.commandId);
    const stream = roomStream(roomId);
    const by = { ...context, actor: participantId };
    // Before a password is hashed for it.
    const paid = quota && reserveQuota(quota);
    let paying: Promise<Rejection | undefined> | undefined;
    const pay = () => {
      paying ??= paid?.charge();
      return paying;
    };
    // Nothing is read for it where it is there: if it was wrong, the refusal is of another state than this.
    let state = known(stream) ?? room(roomId) ?? initialState;
    if (!wish.isHost && !isThere(state)) {
      // Asking for a room that does not exist costs one read.
      ({ state } = await streams.reload(roomAggregate, stream));
      if (!isThere(state)) return roomNotFound;
    }
    const meeting = meetingKey(stream);
    const entered = await seated(take(participantId, false), async (seat) => {
      const caller = derivation.id('meeting.person', wish.caller, foldName(name));
      const formerId = isKnown(arrival) ? arrival.participantId : undefined;
      const person = { participantId, name, caller, formerId, node: run, seat: seat.id };
      const proof = creatorToken === undefined ? {} : { creatorHash: creatorHash(creatorToken) };
      for (let tried = 1; ; tried++) {
        const key = await keyTo(state, wish, context, pay);
        if (isRejection(key)) return key;
        const command: JoinRoom = { type: 'JoinRoom', roomId, ...person, ...proof, ...key, now: clock.now() };
        const { opening } = key;
        const charged = opening && paid ? { ...by, quota: paid.quota } : by;
        const make = opening && (() => meeting.make(opening));
        const outcome = await handle(roomAggregate, stream, command, charged, make);
        if (!isRejection(outcome)) {
          const hasOpened = outcome.events.some(({ type }) => type === 'RoomOpened');
          return { roomId, participantId, seat, hasOpened, position: outcome.position };
        }
        const before = state;
        ({ state } = await streams.load(roomAggregate, stream));
        if (tried === ATTEMPTS || isAsExpected(before, state)) return outcome;
      }
    }).finally(() => paid?.refundUnused());
    if (isRejection(entered) || !entered.hasOpened) await meeting.drop();
    return entered;
  }

  /** Of a meeting that is to be opened: without it nothing can be sealed, and it is for nothing where others open it. */
  function meetingKey(stream: string) {
    let subject: string | undefined;
    return {
      /** Refused where the room is open by now. */
      async make(opening: { readonly meetingId: string }): Promise<Rejection | undefined> {
        // The command has just looked at it.
        if (isThere(known(stream) ?? initialState)) return openedMeanwhile;
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

  const known = (stream: string) => streams.cached(roomAggregate, stream)?.state;

  const isThere = (state: RoomState) => state.isOpen && !isOver(state, clock.now());

  const isAsExpected = (before: RoomState, now: RoomState) =>
    isThere(before) === isThere(now) && before.passwordHash === now.passwordHash;

  /** What opens the room: the password, where it has one, or, for its host, what it is to be. */
  async function keyTo(
    state: RoomState,
    { password: given = '', isHost = false, caller }: Pick<JoinRequest, 'password' | 'isHost' | 'caller'>,
    { commandId }: CommandContext,
    pay: () => Promise<Rejection | undefined> | undefined,
  ): Promise<Pick<JoinRoom, 'opening' | 'proven'> | Rejection> {
    const password = given.trim();
    const isTooLong = [...password].length > PASSWORD_LENGTH;
    if (isThere(state)) {
      const { passwordHash: kept } = state;
      if (kept === undefined || password === '' || isTooLong) return {};
      return (await passwords.matches(password, kept, caller)) ? { proven: kept } : {};
    }
    if (!isHost) return {};
    if (isTooLong) return invalidPassword;
    const refusal = await pay();
    if (refusal) return refusal;
    const passwordHash = password === '' ? undefined : await passwords.hash(password, caller);
    const meetingId = derivation.id('meeting.meeting', commandId);
    return { opening: { meetingId, maxParticipants: USUAL_PARTICIPANTS, passwordHash, returnMs } };
  }

  return { enter, isKnown };
}

/** Leaves the seat again where nobody came to sit there. */
async function seated<Taken extends Seat, Outcome>(
  seat: Taken,
  sit: (seat: Taken) => Promise<Outcome>,
): Promise<Outcome> {
  let outcome: Outcome | undefined;
  try {
    outcome = await sit(seat);
    return outcome;
  } finally {
    if (!outcome || isRejection(outcome)) seat.leave();
  }
}
