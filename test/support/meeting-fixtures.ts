/** Events and commands of meetings for specs, with defaults for everything that a test does not give. */
import type { RoomEvent } from '../../domain/meeting/catalog.js';
import type { Command, ParticipantCommand, RoomCommand } from '../../domain/meeting/commands.js';

export const NOON = 1_800_000_000_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export const roomId = 'ABC234';
export const meetingId = 'first';
const here = { roomId, meetingId };
const connection = (who: string) => ({ node: 'north', seat: `seat-of-${who}` });

export const openRoom = (more: Partial<Command<'OpenRoom'>> = {}): Command<'OpenRoom'> => ({
  type: 'OpenRoom',
  ...here,
  maxParticipants: 8,
  creatorHash: 'hash-of-creator',
  now: NOON,
  ...more,
});

/** Joins a room from an address of its own. */
export const joinRoom = (participantId: string, more: Partial<Command<'JoinRoom'>> = {}): Command<'JoinRoom'> => ({
  type: 'JoinRoom',
  roomId,
  participantId,
  name: participantId,
  caller: `address-of-${participantId}`,
  ...connection(participantId),
  now: NOON,
  ...more,
});

/** Joins a room that does not exist yet, as its host. */
export const hostRoom = (participantId: string, more: Partial<Command<'JoinRoom'>> = {}): Command<'JoinRoom'> =>
  joinRoom(participantId, { opening: { meetingId, maxParticipants: 8 }, ...more });

type Named<Type> = Extract<ParticipantCommand, { readonly type: string; readonly participantId: string }> & {
  readonly type: Type;
};

/** A command of a participant. */
export const does = (
  by: string,
  type: 'RaiseHand' | 'LowerHand' | 'LockRoom' | 'UnlockRoom' | 'StartRecording' | 'StopRecording',
  now = NOON,
): RoomCommand => ({ type, roomId, by, now });

/** A command of a moderator about a participant. */
export const doesTo = <Type extends Exclude<Named<string>['type'], 'RejectUser'>>(
  by: string,
  type: Type,
  participantId: string,
  now = NOON,
): RoomCommand => ({ type, roomId, by, participantId, now }) as RoomCommand;

export const leaveRoom = (participantId: string, now = NOON): RoomCommand => ({
  type: 'LeaveRoom',
  roomId,
  participantId,
  seat: `seat-of-${participantId}`,
  now,
});

/** Milliseconds that a room holds the place of a disconnected participant, if it does. */
export const RETURN_MS = 20_000;

/** Rejoins as a participant, with the connection of before. */
export const returning = (participantId: string, now = NOON): Command<'ReturnToRoom'> => ({
  type: 'ReturnToRoom',
  roomId,
  participantId,
  ...connection(participantId),
  now,
});

/** The socket closed without a leave message. */
export const loseConnection = (participantId: string, now = NOON): RoomCommand => ({
  type: 'LoseConnection',
  roomId,
  where: { seat: `seat-of-${participantId}` },
  now,
});

type Data<Type extends RoomEvent['type']> = RoomEvent<Type>['data'];

/** An event of the meeting, with the given data. */
export const happened = <Type extends RoomEvent['type']>(
  type: Type,
  data: Omit<Data<Type>, 'roomId' | 'meetingId'>,
): RoomEvent<Type> => ({ type, data: { ...here, ...data } }) as unknown as RoomEvent<Type>;

export const opened = (more: Partial<Data<'RoomOpened'>> = {}) =>
  happened('RoomOpened', {
    openedAt: NOON,
    isPreCreated: true,
    maxParticipants: 8,
    creatorHash: 'hash-of-creator',
    secret: {},
    ...more,
  });

/** A room opened by its first participant. */
export const hosted: RoomEvent = happened('RoomOpened', {
  openedAt: NOON,
  isPreCreated: false,
  maxParticipants: 8,
  secret: {},
});

/** A room that holds places of disconnected participants. */
export const hostedHolding: RoomEvent = happened('RoomOpened', {
  openedAt: NOON,
  isPreCreated: false,
  maxParticipants: 8,
  returnMs: RETURN_MS,
  secret: {},
});

export const joined = (participantId: string, isModerator = false, joinedAt = NOON) =>
  happened('ParticipantJoined', {
    participantId,
    joinedAt,
    isModerator,
    caller: `address-of-${participantId}`,
    ...connection(participantId),
    secret: { name: participantId },
  });

/** `count` participants; the first is the moderator. */
export const people = (count: number) => Array.from({ length: count }, (_, index) => joined(`p${index}`, index === 0));

export const requested = (participantId: string, requestedAt = NOON) =>
  happened('EntryRequested', {
    participantId,
    requestedAt,
    caller: `address-of-${participantId}`,
    ...connection(participantId),
    secret: { name: participantId },
  });

export const granted = (participantId: string, by?: string, isModerator = false, grantedAt = NOON) =>
  happened('EntryGranted', { participantId, grantedAt, isModerator, ...(by && { by }) });

export const left = (participantId: string, leftAt = NOON) => happened('ParticipantLeft', { participantId, leftAt });
/** A participant leaves because their node died. */
export const lost = (participantId: string, leftAt = NOON) =>
  happened('ParticipantLeft', { participantId, leftAt, isLost: true });

export const connectionLost = (participantId: string, lostAt = NOON) =>
  happened('ConnectionLost', { participantId, seat: `seat-of-${participantId}`, lostAt });

export const rejoined = (participantId: string, isModerator = false, rejoinedAt = NOON) =>
  happened('ParticipantRejoined', { participantId, rejoinedAt, isModerator, ...connection(participantId) });

export const kicked = (participantId: string, by: string, kickedAt = NOON) =>
  happened('ParticipantKicked', { participantId, kickedAt, by });

export const promoted = (participantId: string, by?: string, promotedAt = NOON) =>
  happened('ParticipantPromoted', { participantId, promotedAt, ...(by && { by }) });

export const locked = (by: string, lockedAt = NOON) => happened('RoomLocked', { lockedAt, by });
export const unlocked = (by: string, unlockedAt = NOON) => happened('RoomUnlocked', { unlockedAt, by });
export const ended = (endedAt = NOON) => happened('RoomEnded', { endedAt });

/** Commands that emit every type of event. */
export const everything: readonly RoomCommand[] = [
  openRoom({
    title: 'Plans',
    passwordHash: 'hash',
    scheduledStart: NOON,
    scheduledEnd: NOON + HOUR,
    maxParticipants: 4,
    returnMs: RETURN_MS,
  }),
  ...['ada', 'bob', 'cleo'].map((each) => joinRoom(each, { verifiedPasswordHash: 'hash' })),
  { type: 'UpdateOneself', roomId, by: 'ada', isVideoOff: true, now: NOON },
  does('bob', 'RaiseHand'),
  does('bob', 'LowerHand'),
  does('ada', 'StartRecording'),
  does('ada', 'StopRecording'),
  doesTo('ada', 'MuteParticipant', 'bob'),
  doesTo('ada', 'UnmuteParticipant', 'bob'),
  doesTo('ada', 'KickParticipant', 'cleo'),
  does('ada', 'LockRoom'),
  ...['dan', 'eve', 'fay'].map((each) => joinRoom(each, { verifiedPasswordHash: 'hash' })),
  doesTo('ada', 'AdmitUser', 'dan'),
  { type: 'RejectUser', roomId, by: 'ada', participantId: 'eve', reason: 'Not today', now: NOON },
  leaveRoom('fay'),
  does('ada', 'UnlockRoom'),
  { type: 'ReturnToRoom', roomId, participantId: 'bob', node: 'south', seat: 'another', now: NOON },
  { type: 'LoseConnection', roomId, where: { node: 'south' }, now: NOON },
  leaveRoom('ada'),
  returning('ada'),
  leaveRoom('ada'),
  { type: 'RemovePeopleOfNode', roomId, node: 'south', now: NOON },
  leaveRoom('dan'),
  { type: 'EndRoom', roomId, now: NOON + 2 * DAY },
  { type: 'EraseMeeting', roomId, meetingId, now: NOON + 3 * DAY },
];
