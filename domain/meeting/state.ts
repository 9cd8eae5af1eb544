/** What is known of a meeting room: who is there, who waits, how it may be entered. */
import { type Evolve, evolveOf } from '../shared/index.js';
import type { RoomEvent } from './catalog.js';

const DAY_MS = 86_400_000;
/** Who was kicked comes back only through the waiting room for so long. */
const KICK_MS = 600_000;
/** A room forgets the oldest of more people kicked in that time. */
const MAX_KICKED = 100;
/** People who left and may come back, at most: as many as the largest room holds. */
export const MAX_DEPARTED = 50;

/** Somebody's connection: the node, and which of its sockets. */
export interface Connected {
  readonly node: string;
  readonly seat: string;
}

export interface WaitingPerson extends Connected {
  readonly id: string;
  readonly name: string;
  /** A keyed digest of their network and folded name. */
  readonly caller: string;
  /** Their connection was lost; their place is held for a while. */
  readonly isLost: boolean;
  /** Unix ms until which only a moderator may admit them, because they were kicked. */
  readonly kickedUntil?: number | undefined;
}

export interface Person extends WaitingPerson {
  readonly isModerator: boolean;
  readonly isMuted: boolean;
  readonly isVideoOff: boolean;
  readonly isHandRaised: boolean;
}

/** A meeting that is over, and still can be read. */
interface EndedMeeting {
  readonly meetingId: string;
  /** Of those made before anybody came: who has the token may ask who was there. */
  readonly creatorHash?: string | undefined;
  /** How many there are in the log from its opening up to the opening of the next that is kept. */
  readonly facts: number;
}

interface Kick {
  readonly id: string;
  readonly caller: string;
  readonly until: number;
}

/** Somebody who left, and who may come back as the same person for a while. */
export interface Departed extends Pick<Person, 'id' | 'name' | 'caller' | 'isModerator'> {
  readonly leftAt: number;
}

export interface RoomState {
  readonly isOpen: boolean;
  /** Of the meeting that is, or was the last. */
  readonly meetingId: string;
  /** It was made before anybody came, and stays for a while when all have gone. */
  readonly isPreCreated: boolean;
  readonly maxParticipants: number;
  /** Milliseconds for which a place is held, who left may come back, and an empty room that was made by joining stays. */
  readonly returnMs: number;
  readonly creatorHash?: string | undefined;
  readonly passwordHash?: string | undefined;
  /** A keyed digest of the address of who made it before anybody came. */
  readonly madeBy?: string | undefined;
  /** Who locked it. */
  readonly lockedBy?: string | undefined;
  /** Who records. */
  readonly recordingBy?: string | undefined;
  /** In order of joining. */
  readonly people: readonly Person[];
  /** In order of asking. */
  readonly waiting: readonly WaitingPerson[];
  readonly kicked: readonly Kick[];
  /** Oldest first. */
  readonly departed: readonly Departed[];
  /** Unix ms: with nobody in it, the room is over then. */
  readonly overAt: number;
  /** Oldest first. */
  readonly readable: readonly EndedMeeting[];
  /** How many there are in the log since the last of these. */
  readonly facts: number;
}

/** A room in which nobody is, and nobody waits. Kicks are not part of it: they count until their time is over. */
const VACANT = { lockedBy: undefined, recordingBy: undefined, people: [], waiting: [] } as const;

export const initialState: RoomState = {
  isOpen: false,
  meetingId: '',
  isPreCreated: false,
  maxParticipants: 0,
  returnMs: 0,
  ...VACANT,
  kicked: [],
  departed: [],
  overAt: 0,
  readable: [],
  facts: 0,
};

export const roomStream = (roomId: string): string => `meeting.room-${roomId}`;

export const personOf = ({ people }: RoomState, id: string): Person | undefined =>
  people.find((each) => each.id === id);

/** Made before anybody came, and nobody is in it. */
export const isEmptyLatent = ({ isOpen, isPreCreated, people }: RoomState): boolean =>
  isOpen && isPreCreated && people.length === 0;

/** By the clock, at the moment: whether or not the log has been told yet. */
export const isExpired = ({ isOpen, people, overAt }: RoomState, now: number): boolean =>
  isOpen && people.length === 0 && now >= overAt;

export const isFull = ({ people, maxParticipants }: RoomState): boolean => people.length >= maxParticipants;

/** The kick that still counts against somebody: known by their id, or by their network and name together. */
export const kickOf = (
  { kicked }: RoomState,
  { id, caller }: { readonly id?: string | undefined; readonly caller: string },
  now: number,
): Kick | undefined => kicked.findLast((each) => (each.id === id || each.caller === caller) && now < each.until);

export const departedOf = ({ departed, returnMs }: RoomState, id: string, now: number): Departed | undefined =>
  departed.find((each) => each.id === id && now < each.leftAt + returnMs);

const without = <Each extends { readonly id: string }>(all: readonly Each[], id: string) =>
  all.filter((each) => each.id !== id);

const updatePerson = (state: RoomState, id: string, change: Partial<Person>): RoomState => ({
  ...state,
  people: state.people.map((each) => (each.id === id ? { ...each, ...change } : each)),
});

/** Changes the connection of somebody who is inside or waits. */
function updateConnection(state: RoomState, id: string, change: Partial<WaitingPerson>): RoomState {
  const apply = <Each extends WaitingPerson>(each: Each) => (each.id === id ? { ...each, ...change } : each);
  return { ...state, people: state.people.map(apply), waiting: state.waiting.map(apply) };
}

/** Somebody is there no more; with the last one goes all that a room has only while there are people in it. */
function removePerson(state: RoomState, id: string, at: number): RoomState {
  const people = without(state.people, id);
  const overAt = state.isPreCreated ? Math.max(state.overAt, at + DAY_MS) : at + state.returnMs;
  if (people.length === 0) return { ...state, ...VACANT, waiting: state.waiting, overAt };
  const recordingBy = state.recordingBy === id ? undefined : state.recordingBy;
  return { ...state, people, recordingBy };
}

/** Remembers who left, so that they may come back under the same id. */
function rememberDeparted(state: RoomState, id: string, leftAt: number): RoomState {
  const person = personOf(state, id);
  if (!person) return state;
  const { name, caller, isModerator } = person;
  const departed = [...without(state.departed, id), { id, name, caller, isModerator, leftAt }];
  return { ...state, departed: departed.slice(-MAX_DEPARTED) };
}

const DEFAULT_FLAGS = { isMuted: false, isVideoOff: false, isHandRaised: false } as const;

/** What they make of the state, besides that there is one more. */
const rules: Evolve<RoomState, RoomEvent> = {
  RoomOpened(state, { meetingId, openedAt, isPreCreated, maxParticipants, ...more }) {
    const { creatorHash, passwordHash, scheduledEnd = 0, caller: madeBy, returnMs = 0 } = more;
    const overAt = isPreCreated ? Math.max(openedAt, scheduledEnd) + DAY_MS : openedAt + returnMs;
    const terms = { meetingId, isPreCreated, maxParticipants, creatorHash, passwordHash, madeBy };
    const { readable, facts } = state;
    return { ...initialState, ...terms, returnMs, overAt, isOpen: true, readable, facts };
  },
  ParticipantJoined(state, { participantId: id, isModerator, caller, node, seat, secret }) {
    const person = { id, name: secret.name, caller, node, seat, isLost: false, isModerator, ...DEFAULT_FLAGS };
    return { ...state, people: [...state.people, person] };
  },
  EntryRequested(state, { participantId: id, formerId, requestedAt, caller, node, seat, secret }) {
    const kickedUntil = kickOf(state, { id: formerId, caller }, requestedAt)?.until;
    const person = { id, name: secret.name, caller, node, seat, isLost: false, kickedUntil };
    return { ...state, waiting: [...state.waiting, person] };
  },
  EntryGranted(state, { participantId: id, isModerator }) {
    const found = state.waiting.find((each) => each.id === id);
    if (!found) return state;
    const people = [...state.people, { ...found, isModerator, ...DEFAULT_FLAGS }];
    return { ...state, people, waiting: without(state.waiting, id) };
  },
  EntryRefused: (state, { participantId }) => ({ ...state, waiting: without(state.waiting, participantId) }),
  EntryWithdrawn: (state, { participantId }) => ({
    ...state,
    waiting: without(state.waiting, participantId),
  }),
  ParticipantReturned(state, { participantId, node, seat }) {
    return updateConnection(state, participantId, { node, seat, isLost: false });
  },
  ParticipantRejoined(state, { participantId: id, isModerator, node, seat }) {
    const found = state.departed.find((each) => each.id === id);
    if (!found) return state;
    const { name, caller } = found;
    const person = { id, name, caller, node, seat, isLost: false, isModerator, ...DEFAULT_FLAGS };
    return { ...state, people: [...state.people, person], departed: without(state.departed, id) };
  },
  ConnectionLost: (state, { participantId }) => updateConnection(state, participantId, { isLost: true }),
  ParticipantLeft: (state, { participantId, leftAt, isLost }) =>
    // A lost connection had its time to come back before.
    removePerson(isLost ? state : rememberDeparted(state, participantId, leftAt), participantId, leftAt),
  ParticipantKicked(state, { participantId: id, kickedAt }) {
    const { caller = '' } = personOf(state, id) ?? {};
    const kicked = [...state.kicked, { id, caller, until: kickedAt + KICK_MS }].slice(-MAX_KICKED);
    return removePerson({ ...state, kicked }, id, kickedAt);
  },
  ParticipantUpdated: (state, { participantId, isMuted, isVideoOff, isHandRaised }) =>
    updatePerson(state, participantId, { isMuted, isVideoOff, isHandRaised }),
  HandRaised: (state, { participantId }) => updatePerson(state, participantId, { isHandRaised: true }),
  HandLowered: (state, { participantId }) => updatePerson(state, participantId, { isHandRaised: false }),
  ParticipantMuted: (state, { participantId }) => updatePerson(state, participantId, { isMuted: true }),
  ParticipantUnmuted: (state, { participantId }) => updatePerson(state, participantId, { isMuted: false }),
  ParticipantPromoted: (state, { participantId }) => updatePerson(state, participantId, { isModerator: true }),
  RoomLocked: (state, { by }) => ({ ...state, lockedBy: by }),
  RoomUnlocked: (state) => ({ ...state, lockedBy: undefined }),
  RecordingStarted: (state, { by }) => ({ ...state, recordingBy: by }),
  RecordingStopped: (state) => ({ ...state, recordingBy: undefined }),
  RoomEnded: ({ readable, creatorHash, facts }, { meetingId }) => ({
    ...initialState,
    meetingId,
    readable: [...readable, { meetingId, facts, ...(creatorHash !== undefined && { creatorHash }) }],
  }),
  MeetingErased: (state, { meetingId }) => ({ ...state, readable: removeMeeting(state.readable, meetingId) }),
};

/** The log lets go only of what comes before all that is kept: the rest counts with the meeting before it. */
function removeMeeting(readable: readonly EndedMeeting[], meetingId: string): readonly EndedMeeting[] {
  const at = readable.findIndex((each) => each.meetingId === meetingId);
  if (at < 0) return readable;
  const { facts } = readable[at]!;
  return readable
    .map((each, index) => (index === at - 1 ? { ...each, facts: each.facts + facts } : each))
    .filter((_, index) => index !== at);
}

export const evolve = Object.fromEntries(
  Object.entries(rules).map(([type, rule]) => [
    type,
    (state: RoomState, data: never) => rule({ ...state, facts: state.facts + 1 }, data),
  ]),
) as typeof rules;

/** A room after some events more. */
export const applyEvents = (state: RoomState, events: readonly RoomEvent[]): RoomState =>
  events.reduce(evolveOf({ evolve }), state);
