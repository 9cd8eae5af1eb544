/** State of a meeting room: people, waiting people, access, and earlier meetings under the same id. */
import { type Evolve, evolveOf } from '../shared/index.js';
import type { RoomEvent } from './catalog.js';

const DAY_MS = 86_400_000;
/** Milliseconds a kicked person can return only through the waiting room. */
const KICK_MS = 600_000;
/** Kicks remembered at one time; the oldest are forgotten. */
const MAX_KICKED = 100;
/** People who left and may rejoin; the capacity of the largest room. */
export const MAX_DEPARTED = 50;

/** Node and socket of a participant. `seat` is the id of their seat on the socket. */
export interface Connected {
  readonly node: string;
  readonly seat: string;
}

export interface WaitingPerson extends Connected {
  readonly id: string;
  readonly name: string;
  /** Keyed digest of the person's network and folded name. */
  readonly caller: string;
  /** Disconnected; they keep their place for a while. */
  readonly isDisconnected: boolean;
  /** Unix ms until which only a moderator may admit this kicked person. */
  readonly kickedUntil?: number | undefined;
}

export interface Person extends WaitingPerson {
  readonly isModerator: boolean;
  readonly isMuted: boolean;
  readonly isVideoOff: boolean;
  readonly isHandRaised: boolean;
}

/** An ended meeting that can still be decrypted. */
interface EndedMeeting {
  readonly meetingId: string;
  /** Set if the room was created in advance; the token gives access to the attendance. */
  readonly creatorHash?: string | undefined;
  /** Events in the log from its opening to the opening of the next readable meeting. */
  readonly facts: number;
}

interface Kick {
  readonly id: string;
  readonly caller: string;
  readonly until: number;
}

/** A person who left and may rejoin as the same participant for a while. */
export interface Departed extends Pick<Person, 'id' | 'name' | 'caller' | 'isModerator'> {
  readonly leftAt: number;
}

export interface RoomState {
  readonly isOpen: boolean;
  /** Id of the current or last meeting. */
  readonly meetingId: string;
  /** Created in advance; stays open for a while when it is empty. */
  readonly isPreCreated: boolean;
  readonly maxParticipants: number;
  /**
   * Milliseconds a disconnected participant keeps their place, a person who left may rejoin, and an empty room
   * opened by joining stays open.
   */
  readonly returnMs: number;
  readonly creatorHash?: string | undefined;
  readonly passwordHash?: string | undefined;
  /** Keyed digest of the network that created the room in advance. */
  readonly madeBy?: string | undefined;
  /** Participant who locked the room. */
  readonly lockedBy?: string | undefined;
  /** Participant who records. */
  readonly recordingBy?: string | undefined;
  /** In order of joining. */
  readonly people: readonly Person[];
  /** In order of their requests. */
  readonly waiting: readonly WaitingPerson[];
  readonly kicked: readonly Kick[];
  /** Oldest first. */
  readonly departed: readonly Departed[];
  /** Unix ms at which the room expires while it is empty. */
  readonly overAt: number;
  /** Oldest first. */
  readonly readable: readonly EndedMeeting[];
  /** Events in the log since the last of `readable`. */
  readonly facts: number;
}

/** Members of a room without people. Kicks are not reset: they apply until they expire. */
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

/** Whether the room was created in advance and is empty. */
export const isEmptyLatent = ({ isOpen, isPreCreated, people }: RoomState): boolean =>
  isOpen && isPreCreated && people.length === 0;

/** Whether the room has expired by the clock, even if its end is not recorded yet. */
export const isExpired = ({ isOpen, people, overAt }: RoomState, now: number): boolean =>
  isOpen && people.length === 0 && now >= overAt;

export const isFull = ({ people, maxParticipants }: RoomState): boolean => people.length >= maxParticipants;

/** Returns the kick that still applies to a person, identified by id, or by network and name together. */
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

/** Changes the connection of a person inside or waiting. */
function updateConnection(state: RoomState, id: string, change: Partial<WaitingPerson>): RoomState {
  const apply = <Each extends WaitingPerson>(each: Each) => (each.id === id ? { ...each, ...change } : each);
  return { ...state, people: state.people.map(apply), waiting: state.waiting.map(apply) };
}

/** Removes a person. Lock and recording end with the last one. */
function removePerson(state: RoomState, id: string, at: number): RoomState {
  const people = without(state.people, id);
  const overAt = state.isPreCreated ? Math.max(state.overAt, at + DAY_MS) : at + state.returnMs;
  if (people.length === 0) return { ...state, ...VACANT, waiting: state.waiting, overAt };
  const recordingBy = state.recordingBy === id ? undefined : state.recordingBy;
  return { ...state, people, recordingBy };
}

/** Remembers a person who left, so that they may rejoin under the same id. */
function rememberDeparted(state: RoomState, id: string, leftAt: number): RoomState {
  const person = personOf(state, id);
  if (!person) return state;
  const { name, caller, isModerator } = person;
  const departed = [...without(state.departed, id), { id, name, caller, isModerator, leftAt }];
  return { ...state, departed: departed.slice(-MAX_DEPARTED) };
}

const DEFAULT_FLAGS = { isMuted: false, isVideoOff: false, isHandRaised: false } as const;

/** State transitions, apart from counting events. */
const rules: Evolve<RoomState, RoomEvent> = {
  RoomOpened(state, { meetingId, openedAt, isPreCreated, maxParticipants, ...more }) {
    const { creatorHash, passwordHash, scheduledEnd = 0, caller: madeBy, returnMs = 0 } = more;
    const overAt = isPreCreated ? Math.max(openedAt, scheduledEnd) + DAY_MS : openedAt + returnMs;
    const terms = { meetingId, isPreCreated, maxParticipants, creatorHash, passwordHash, madeBy };
    const { readable, facts } = state;
    return { ...initialState, ...terms, returnMs, overAt, isOpen: true, readable, facts };
  },
  ParticipantJoined(state, { participantId: id, isModerator, caller, node, seat, secret }) {
    const person = { id, name: secret.name, caller, node, seat, isDisconnected: false, isModerator, ...DEFAULT_FLAGS };
    return { ...state, people: [...state.people, person] };
  },
  EntryRequested(state, { participantId: id, formerId, requestedAt, caller, node, seat, secret }) {
    const kickedUntil = kickOf(state, { id: formerId, caller }, requestedAt)?.until;
    const person = { id, name: secret.name, caller, node, seat, isDisconnected: false, kickedUntil };
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
    return updateConnection(state, participantId, { node, seat, isDisconnected: false });
  },
  ParticipantRejoined(state, { participantId: id, isModerator, node, seat }) {
    const found = state.departed.find((each) => each.id === id);
    if (!found) return state;
    const { name, caller } = found;
    const person = { id, name, caller, node, seat, isDisconnected: false, isModerator, ...DEFAULT_FLAGS };
    return { ...state, people: [...state.people, person], departed: without(state.departed, id) };
  },
  ConnectionLost: (state, { participantId }) => updateConnection(state, participantId, { isDisconnected: true }),
  ParticipantLeft: (state, { participantId, leftAt, isLost }) =>
    // A disconnected person had their grace period already, so they can't rejoin.
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

/** The log truncates only from the start: the events of an erased meeting count towards the one before it. */
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

/** Applies events to a state. */
export const applyEvents = (state: RoomState, events: readonly RoomEvent[]): RoomState =>
  events.reduce(evolveOf({ evolve }), state);
