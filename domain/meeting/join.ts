/** Rules for entering a room: open, join, wait, return, rejoin. */
import { type Rejection, sameText } from '../shared/index.js';
import type { RoomEvent } from './catalog.js';
import type { Command, RoomTerms } from './commands.js';
import { departedOf, isFull, kickOf, personOf, type RoomState } from './state.js';

/** People waiting at one time; the room counts as full for further ones. */
export const MAX_WAITING = 50;

type Decision = readonly RoomEvent[] | Rejection;

export const roomNotFound: Rejection = { rejected: 'meeting/room-not-found', kind: 'not-found' };
export const roomFull: Rejection = { rejected: 'meeting/room-full', kind: 'limit' };
export const notJoined: Rejection = { rejected: 'meeting/not-joined', kind: 'unauthenticated' };
export const roomExists: Rejection = { rejected: 'meeting/room-exists', kind: 'conflict' };
const wrongPassword: Rejection = { rejected: 'meeting/wrong-password', kind: 'forbidden' };

/** Omits undefined members, which events must not have. */
const withoutUndefined = <Members extends object>(members: Members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: Exclude<Members[Name], undefined>;
  };

export function open(command: Command<'OpenRoom'>, { isOpen }: RoomState): Decision {
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

/**
 * Joins a room. Checks in the order of the contract: room exists, password, lock, capacity; the first failure is
 * reported.
 */
export function join(command: Command<'JoinRoom'>, state: RoomState): Decision {
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

function openAndJoin(
  command: Command<'JoinRoom'>,
  { meetingId, maxParticipants, passwordHash, returnMs }: RoomTerms,
): Decision {
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
  { roomId, participantId, name, caller, node, seat, now }: Command<'JoinRoom'>,
  meetingId: string,
  isModerator: boolean,
): RoomEvent<'ParticipantJoined'> {
  const who = { participantId, joinedAt: now, isModerator, caller, node, seat, secret: { name } };
  return { type: 'ParticipantJoined', data: { roomId, meetingId, ...who } };
}

function requested(
  { roomId, participantId, name, formerId, caller, node, seat, now }: Command<'JoinRoom'>,
  meetingId: string,
  wasKicked: boolean,
): RoomEvent<'EntryRequested'> {
  const former = wasKicked ? withoutUndefined({ formerId }) : {};
  const who = { participantId, requestedAt: now, ...former, caller, node, seat, secret: { name } };
  return { type: 'EntryRequested', data: { roomId, meetingId, ...who } };
}

export function returnToRoom(command: Command<'ReturnToRoom'>, state: RoomState): Decision {
  const { roomId, participantId, node, seat, now } = command;
  const connected = [...state.people, ...state.waiting].find(({ id }) => id === participantId);
  if (!connected) return rejoin(command, state);
  if (connected.node === node && connected.seat === seat && !connected.isDisconnected) return [];
  const { meetingId } = state;
  return [
    {
      type: 'ParticipantReturned',
      data: { roomId, meetingId, participantId, returnedAt: now, node, seat },
    },
  ];
}

/** Readmits a participant who left recently. Lock, capacity and kicks apply, since no place was kept. */
function rejoin({ roomId, participantId, node, seat, now }: Command<'ReturnToRoom'>, state: RoomState): Decision {
  const { meetingId, people, lockedBy } = state;
  const departed = departedOf(state, participantId, now);
  if (!departed || lockedBy || isFull(state) || kickOf(state, departed, now)) return notJoined;
  const isModerator = departed.isModerator || people.length === 0;
  const data = { participantId, rejoinedAt: now, isModerator, node, seat };
  return [{ type: 'ParticipantRejoined', data: { roomId, meetingId, ...data } }];
}

/** Admits waiting people in order if the room is unlocked, not empty and has capacity. */
export const admitNextWaiting = (roomId: string, state: RoomState, now: number): RoomEvent<'EntryGranted'>[] =>
  state.lockedBy || state.people.length === 0 ? [] : admitUpToCapacity(roomId, state, now);

/** Admits waiting people up to the room's capacity, except those who were kicked or are disconnected. */
export function admitUpToCapacity(roomId: string, state: RoomState, now: number): RoomEvent<'EntryGranted'>[] {
  const { meetingId, people, maxParticipants, waiting } = state;
  return waiting
    .filter(({ kickedUntil = 0, isDisconnected }) => now >= kickedUntil && !isDisconnected)
    .slice(0, Math.max(0, maxParticipants - people.length))
    .map(({ id }, index) => {
      const isModerator = people.length + index === 0;
      return {
        type: 'EntryGranted',
        data: { roomId, meetingId, participantId: id, grantedAt: now, isModerator },
      };
    });
}
