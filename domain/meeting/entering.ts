/** How people come into a meeting room: opening it, joining, waiting until somebody lets them in. */
import type { Rejection } from '../shared/decider.js';
import { sameText } from '../shared/text.js';
import type { RoomEvent } from './catalog.js';
import { type Connected, isFull, personOf, type RoomState, wasKicked } from './state.js';

/** People who wait at the same time; more find the room full. */
export const MAX_WAITING = 50;

interface Terms {
  readonly meetingId: string;
  readonly maxParticipants: number;
  readonly passwordHash?: string | undefined;
}

export interface OpenRoom extends Terms {
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
  readonly caller: string;
  /** How the room is to be opened where there is none: of who says that they are its host. */
  readonly opening?: Terms | undefined;
  /** The hash that the password they gave was compared with, and found right. */
  readonly proven?: string | undefined;
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
const given = <Members extends object>(members: Members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: Exclude<Members[Name], undefined>;
  };

export function open(command: OpenRoom, { isOpen }: RoomState): Decision {
  if (isOpen) return roomExists;
  const { roomId, meetingId, maxParticipants, creatorHash, passwordHash, title, now } = command;
  const { scheduledStart, scheduledEnd, caller } = command;
  const data = {
    roomId,
    meetingId,
    openedAt: now,
    isPreCreated: true,
    maxParticipants,
    ...given({ creatorHash, passwordHash, scheduledStart, scheduledEnd, caller }),
    secret: given({ title }),
  };
  return [{ type: 'RoomOpened', data }];
}

/** First whether it is there, then the password, then the lock, then the cap: of several reasons the first is told. */
export function join(command: JoinRoom, state: RoomState): Decision {
  const { opening, participantId } = command;
  if (!state.isOpen) return opening ? host(command, opening) : roomNotFound;
  if (personOf(state, participantId) || state.waiting.some(({ id }) => id === participantId)) return [];
  const { meetingId, passwordHash } = state;
  if (passwordHash !== undefined && command.proven !== passwordHash) return wrongPassword;
  const isCreator =
    !!state.creatorHash && !!command.creatorHash && sameText(state.creatorHash, command.creatorHash);
  if (!isCreator && (state.lockedBy || wasKicked(state, command.caller, command.now)))
    return state.waiting.length < MAX_WAITING ? [requested(command, meetingId)] : roomFull;
  if (isFull(state)) return roomFull;
  return [joined(command, meetingId, isCreator || state.people.length === 0)];
}

function host(command: JoinRoom, { meetingId, maxParticipants, passwordHash }: Terms): Decision {
  const { roomId, now } = command;
  const terms = { openedAt: now, isPreCreated: false, maxParticipants, ...given({ passwordHash }) };
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
  { roomId, participantId, name, caller, node, seat, now }: JoinRoom,
  meetingId: string,
): RoomEvent<'EntryRequested'> {
  const who = { participantId, requestedAt: now, caller, node, seat, secret: { name } };
  return { type: 'EntryRequested', data: { roomId, meetingId, ...who } };
}

export function comeBack(command: ReturnToRoom, state: RoomState): Decision {
  const { roomId, participantId, node, seat, now } = command;
  const found = [...state.people, ...state.waiting].find(({ id }) => id === participantId);
  if (!found) return notJoined;
  if (found.node === node && found.seat === seat) return [];
  const { meetingId } = state;
  return [
    {
      type: 'ParticipantReturned',
      data: { roomId, meetingId, participantId, returnedAt: now, node, seat },
    },
  ];
}

/** As many of those who wait as there is room for, but none who was just sent away. `by` nobody: the lock has gone. */
export function admitAll(roomId: string, state: RoomState, now: number): RoomEvent<'EntryGranted'>[] {
  const { meetingId, people, maxParticipants, waiting } = state;
  return waiting
    .filter(({ caller }) => !wasKicked(state, caller, now))
    .slice(0, Math.max(0, maxParticipants - people.length))
    .map(({ id }, index) => {
      const isModerator = people.length + index === 0;
      return {
        type: 'EntryGranted',
        data: { roomId, meetingId, participantId: id, grantedAt: now, isModerator },
      };
    });
}
