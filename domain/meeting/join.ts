/** How people come into a meeting room: opening it, joining, waiting until somebody lets them in. */
import { type Rejection, sameText } from '../shared/index.js';
import type { RoomEvent } from './catalog.js';
import { type Connected, departedOf, isFull, kickOf, personOf, type RoomState } from './state.js';

/** People who wait at the same time; more find the room full. */
export const MAX_WAITING = 50;

interface RoomTerms {
  readonly meetingId: string;
  readonly maxParticipants: number;
  readonly passwordHash?: string | undefined;
  /** Milliseconds for which a place is held for a lost connection. */
  readonly returnMs?: number | undefined;
}

export interface OpenRoom extends RoomTerms {
  readonly type: 'OpenRoom';
  readonly roomId: string;
  readonly creatorHash: string;
  /** A keyed digest of the address of who makes it. */
  readonly caller?: string | undefined;
  readonly title?: string | undefined;
  readonly scheduledStart?: number | undefined;
  readonly scheduledEnd?: number | undefined;
  readonly now: number;
}

export interface JoinRoom extends Connected {
  readonly type: 'JoinRoom';
  readonly roomId: string;
  readonly participantId: string;
  readonly name: string;
  /** A keyed digest of their network and folded name. */
  readonly caller: string;
  /** The participant they proved to have been. */
  readonly formerId?: string | undefined;
  /** How the room is to be opened where there is none: of who says that they are its host. */
  readonly opening?: RoomTerms | undefined;
  /** The hash that the password they gave was compared with, and found right. */
  readonly verifiedPasswordHash?: string | undefined;
  readonly creatorHash?: string | undefined;
  readonly now: number;
}

/** Of who was there, on another socket. */
export interface ReturnToRoom extends Connected {
  readonly type: 'ReturnToRoom';
  readonly roomId: string;
  readonly participantId: string;
  readonly now: number;
}

type Decision = readonly RoomEvent[] | Rejection;

export const roomNotFound: Rejection = { rejected: 'meeting/room-not-found', kind: 'not-found' };
export const roomFull: Rejection = { rejected: 'meeting/room-full', kind: 'limit' };
export const notJoined: Rejection = { rejected: 'meeting/not-joined', kind: 'unauthenticated' };
export const roomExists: Rejection = { rejected: 'meeting/room-exists', kind: 'conflict' };
const wrongPassword: Rejection = { rejected: 'meeting/wrong-password', kind: 'forbidden' };

/** Only what was given: events have no members that say nothing. */
const withoutUndefined = <Members extends object>(members: Members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: Exclude<Members[Name], undefined>;
  };

export function open(command: OpenRoom, { isOpen }: RoomState): Decision {
  if (isOpen) return roomExists;
  const { roomId, meetingId, maxParticipants, creatorHash, passwordHash, title, now } = command;
  const { scheduledStart, scheduledEnd, caller, returnMs } = command;
  const data = {
    roomId,
    meetingId,
    openedAt: now,
    isPreCreated: true,
    maxParticipants,
    ...withoutUndefined({ creatorHash, passwordHash, scheduledStart, scheduledEnd, caller, returnMs }),
    secret: withoutUndefined({ title }),
  };
  return [{ type: 'RoomOpened', data }];
}

/** First whether it is there, then the password, then the lock, then the cap: of several reasons the first is told. */
export function join(command: JoinRoom, state: RoomState): Decision {
  const { opening, participantId } = command;
  if (!state.isOpen) return opening ? openAndJoin(command, opening) : roomNotFound;
  if (personOf(state, participantId) || state.waiting.some(({ id }) => id === participantId)) return [];
  const { meetingId, passwordHash } = state;
  if (passwordHash !== undefined && command.verifiedPasswordHash !== passwordHash) return wrongPassword;
  const isCreator = !!state.creatorHash && !!command.creatorHash && sameText(state.creatorHash, command.creatorHash);
  const { formerId, caller, now } = command;
  const wasKicked = kickOf(state, { id: formerId, caller }, now) !== undefined;
  if (!isCreator && (state.lockedBy || wasKicked))
    return state.waiting.length < MAX_WAITING ? [requested(command, meetingId, wasKicked)] : roomFull;
  if (isFull(state)) return roomFull;
  return [joined(command, meetingId, isCreator || state.people.length === 0)];
}

function openAndJoin(command: JoinRoom, { meetingId, maxParticipants, passwordHash, returnMs }: RoomTerms): Decision {
  const { roomId, now } = command;
  const terms = {
    openedAt: now,
    isPreCreated: false,
    maxParticipants,
    ...withoutUndefined({ passwordHash, returnMs }),
  };
  const opened = { type: 'RoomOpened', data: { roomId, meetingId, ...terms, secret: {} } } as const;
  return [opened, joined(command, meetingId, true)];
}

function joined(
  { roomId, participantId, name, caller, node, seat, now }: JoinRoom,
  meetingId: string,
  isModerator: boolean,
): RoomEvent<'ParticipantJoined'> {
  const who = { participantId, joinedAt: now, isModerator, caller, node, seat, secret: { name } };
  return { type: 'ParticipantJoined', data: { roomId, meetingId, ...who } };
}

function requested(
  { roomId, participantId, name, formerId, caller, node, seat, now }: JoinRoom,
  meetingId: string,
  wasKicked: boolean,
): RoomEvent<'EntryRequested'> {
  const former = wasKicked ? withoutUndefined({ formerId }) : {};
  const who = { participantId, requestedAt: now, ...former, caller, node, seat, secret: { name } };
  return { type: 'EntryRequested', data: { roomId, meetingId, ...who } };
}

export function returnToRoom(command: ReturnToRoom, state: RoomState): Decision {
  const { roomId, participantId, node, seat, now } = command;
  const connected = [...state.people, ...state.waiting].find(({ id }) => id === participantId);
  if (!connected) return rejoin(command, state);
  if (connected.node === node && connected.seat === seat && !connected.isLost) return [];
  const { meetingId } = state;
  return [
    {
      type: 'ParticipantReturned',
      data: { roomId, meetingId, participantId, returnedAt: now, node, seat },
    },
  ];
}

/** Readmits somebody who left a moment ago; a lock, a full room and a kick count for them, since no place was held. */
function rejoin({ roomId, participantId, node, seat, now }: ReturnToRoom, state: RoomState): Decision {
  const { meetingId, people, lockedBy } = state;
  const departed = departedOf(state, participantId, now);
  if (!departed || lockedBy || isFull(state) || kickOf(state, departed, now)) return notJoined;
  const isModerator = departed.isModerator || people.length === 0;
  const data = { participantId, rejoinedAt: now, isModerator, node, seat };
  return [{ type: 'ParticipantRejoined', data: { roomId, meetingId, ...data } }];
}

/** Gives the free seats of a room that is not locked, and that somebody is in, to those who wait, in their order. */
export const admitNextWaiting = (roomId: string, state: RoomState, now: number): RoomEvent<'EntryGranted'>[] =>
  state.lockedBy || state.people.length === 0 ? [] : admitUpToCapacity(roomId, state, now);

/** As many of those who wait as there is room for, but none who was kicked, or whose connection is lost. */
export function admitUpToCapacity(roomId: string, state: RoomState, now: number): RoomEvent<'EntryGranted'>[] {
  const { meetingId, people, maxParticipants, waiting } = state;
  return waiting
    .filter(({ kickedUntil = 0, isLost }) => now >= kickedUntil && !isLost)
    .slice(0, Math.max(0, maxParticipants - people.length))
    .map(({ id }, index) => {
      const isModerator = people.length + index === 0;
      return {
        type: 'EntryGranted',
        data: { roomId, meetingId, participantId: id, grantedAt: now, isModerator },
      };
    });
}
