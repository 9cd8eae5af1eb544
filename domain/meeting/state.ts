/** What is known of a meeting room: who is there, who waits, how it may be entered. */
import { type Evolve, evolveOf } from '../shared/decider.js';
import type { RoomEvent } from './catalog.js';

const DAY_MS = 86_400_000;
/** Who was kicked comes back only through the waiting room for so long. */
const KICKED_MS = 600_000;
/** A room forgets the oldest of more people kicked in that time. */
const MOST_KICKED = 100;

/** Somebody's connection: the node, and which of its sockets. */
export interface Connected {
  readonly node: string;
  readonly seat: string;
}

export interface Waiting extends Connected {
  readonly id: string;
  readonly name: string;
  /** A keyed digest of their address. */
  readonly caller: string;
}

export interface Person extends Waiting {
  readonly isModerator: boolean;
  readonly isMuted: boolean;
  readonly isVideoOff: boolean;
  readonly isHandRaised: boolean;
}

/** A meeting that is over, and still can be read. */
interface Earlier {
  readonly meetingId: string;
  /** Of those made before anybody came: who has the token may ask who was there. */
  readonly creatorHash?: string | undefined;
  /** How many there are in the log from its opening up to the opening of the next that is kept. */
  readonly facts: number;
}

interface Kicked {
  readonly caller: string;
  readonly until: number;
}

export interface RoomState {
  readonly isOpen: boolean;
  /** Of the meeting that is, or was the last. */
  readonly meetingId: string;
  /** It was made before anybody came, and stays for a while when all have gone. */
  readonly isPreCreated: boolean;
  readonly maxParticipants: number;
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
  readonly waiting: readonly Waiting[];
  readonly kicked: readonly Kicked[];
  /** Unix ms: with nobody in it, a room that was made before is over then. */
  readonly overAt: number;
  /** Oldest first. */
  readonly readable: readonly Earlier[];
  /** How many there are in the log since the last of these. */
  readonly facts: number;
}

/** A room in which nobody is, and nobody waits. */
const empty = { lockedBy: undefined, recordingBy: undefined, people: [], waiting: [], kicked: [] } as const;

export const initialState: RoomState = {
  isOpen: false,
  meetingId: '',
  isPreCreated: false,
  maxParticipants: 0,
  ...empty,
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
export const isOver = (state: RoomState, now: number): boolean => isEmptyLatent(state) && now >= state.overAt;

export const isFull = ({ people, maxParticipants }: RoomState): boolean => people.length >= maxParticipants;

export const wasKicked = ({ kicked }: RoomState, caller: string, now: number): boolean =>
  kicked.some((each) => each.caller === caller && now < each.until);

const without = <Each extends Waiting>(all: readonly Each[], id: string) =>
  all.filter((each) => each.id !== id);

const changed = (state: RoomState, id: string, change: Partial<Person>): RoomState => ({
  ...state,
  people: state.people.map((each) => (each.id === id ? { ...each, ...change } : each)),
});

/** Somebody is there no more; with the last one goes all that a room has only while there are people in it. */
function gone(state: RoomState, id: string, at: number): RoomState {
  const people = without(state.people, id);
  const overAt = Math.max(state.overAt, at + DAY_MS);
  if (people.length === 0) return { ...state, ...empty, waiting: state.waiting, overAt };
  const recordingBy = state.recordingBy === id ? undefined : state.recordingBy;
  return { ...state, people, recordingBy };
}

const flags = { isMuted: false, isVideoOff: false, isHandRaised: false } as const;

/** What they make of the state, besides that there is one more. */
const rules: Evolve<RoomState, RoomEvent> = {
  RoomOpened(state, { meetingId, openedAt, isPreCreated, maxParticipants, ...more }) {
    const { creatorHash, passwordHash, scheduledEnd = 0, caller: madeBy } = more;
    const overAt = Math.max(openedAt, scheduledEnd) + DAY_MS;
    const how = { meetingId, isPreCreated, maxParticipants, creatorHash, passwordHash, madeBy, overAt };
    const { readable, facts } = state;
    return { ...initialState, ...how, isOpen: true, readable, facts };
  },
  ParticipantJoined(state, { participantId: id, isModerator, caller, node, seat, secret }) {
    const person = { id, name: secret.name, caller, node, seat, isModerator, ...flags };
    return { ...state, people: [...state.people, person] };
  },
  EntryRequested(state, { participantId: id, caller, node, seat, secret }) {
    return { ...state, waiting: [...state.waiting, { id, name: secret.name, caller, node, seat }] };
  },
  EntryGranted(state, { participantId: id, isModerator }) {
    const found = state.waiting.find((each) => each.id === id);
    if (!found) return state;
    const people = [...state.people, { ...found, isModerator, ...flags }];
    return { ...state, people, waiting: without(state.waiting, id) };
  },
  EntryRefused: (state, { participantId }) => ({ ...state, waiting: without(state.waiting, participantId) }),
  EntryWithdrawn: (state, { participantId }) => ({
    ...state,
    waiting: without(state.waiting, participantId),
  }),
  ParticipantReturned(state, { participantId, node, seat }) {
    const moved = <Each extends Waiting>(each: Each) =>
      each.id === participantId ? { ...each, node, seat } : each;
    return { ...state, people: state.people.map(moved), waiting: state.waiting.map(moved) };
  },
  ParticipantLeft: (state, { participantId, leftAt }) => gone(state, participantId, leftAt),
  ParticipantKicked(state, { participantId, kickedAt }) {
    const { caller = '' } = personOf(state, participantId) ?? {};
    const kicked = [...state.kicked, { caller, until: kickedAt + KICKED_MS }].slice(-MOST_KICKED);
    return gone({ ...state, kicked }, participantId, kickedAt);
  },
  ParticipantUpdated: (state, { participantId, isMuted, isVideoOff, isHandRaised }) =>
    changed(state, participantId, { isMuted, isVideoOff, isHandRaised }),
  HandRaised: (state, { participantId }) => changed(state, participantId, { isHandRaised: true }),
  HandLowered: (state, { participantId }) => changed(state, participantId, { isHandRaised: false }),
  ParticipantMuted: (state, { participantId }) => changed(state, participantId, { isMuted: true }),
  ParticipantUnmuted: (state, { participantId }) => changed(state, participantId, { isMuted: false }),
  ParticipantPromoted: (state, { participantId }) => changed(state, participantId, { isModerator: true }),
  RoomLocked: (state, { by }) => ({ ...state, lockedBy: by }),
  RoomUnlocked: (state) => ({ ...state, lockedBy: undefined }),
  RecordingStarted: (state, { by }) => ({ ...state, recordingBy: by }),
  RecordingStopped: (state) => ({ ...state, recordingBy: undefined }),
  RoomEnded: ({ readable, creatorHash, facts }, { meetingId }) => ({
    ...initialState,
    meetingId,
    readable: [...readable, { meetingId, facts, ...(creatorHash !== undefined && { creatorHash }) }],
  }),
  MeetingErased: (state, { meetingId }) => ({ ...state, readable: erased(state.readable, meetingId) }),
};

/** The log lets go only of what comes before all that is kept: the rest counts with the meeting before it. */
function erased(readable: readonly Earlier[], meetingId: string): readonly Earlier[] {
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
export const after = (state: RoomState, events: readonly RoomEvent[]): RoomState =>
  events.reduce(evolveOf({ evolve }), state);
