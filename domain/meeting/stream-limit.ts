/** Limits the length of a room's stream, because a command on an uncached room replays all of it. */
import type { Rejection } from '../shared/index.js';
import { roomExists, roomFull } from './join.js';
import type { RoomState } from './state.js';

const OWN_FLAGS_LIMIT = 20_000;
const JOIN_LIMIT = 25_000;
const MODERATION_LIMIT = 30_000;
const UNLIMITED = Number.POSITIVE_INFINITY;

/**
 * Stream length up to which each command may add events. Own changes stop first, then joins, then moderation.
 * Departures and endings are always possible, and bounded by the number of people.
 */
const MAX_EVENTS = {
  UpdateOneself: OWN_FLAGS_LIMIT,
  RaiseHand: OWN_FLAGS_LIMIT,
  LowerHand: OWN_FLAGS_LIMIT,
  OpenRoom: JOIN_LIMIT,
  JoinRoom: JOIN_LIMIT,
  ReturnToRoom: MODERATION_LIMIT,
  LockRoom: MODERATION_LIMIT,
  UnlockRoom: MODERATION_LIMIT,
  StartRecording: MODERATION_LIMIT,
  StopRecording: MODERATION_LIMIT,
  MuteParticipant: MODERATION_LIMIT,
  UnmuteParticipant: MODERATION_LIMIT,
  PromoteParticipant: MODERATION_LIMIT,
  AdmitUser: UNLIMITED,
  RejectUser: UNLIMITED,
  KickParticipant: UNLIMITED,
  LeaveRoom: UNLIMITED,
  LoseConnection: UNLIMITED,
  RemovePeopleOfNode: UNLIMITED,
  EndRoom: UNLIMITED,
  EraseMeeting: UNLIMITED,
} as const;

const tooLong: Rejection = {
  rejected: 'meeting/too-long',
  kind: 'limit',
  detail: 'This room has reached its event limit; create another one',
};

/** Returns the rejection of a command that would exceed the limit. */
export function limitFor(type: keyof typeof MAX_EVENTS, state: RoomState): Rejection | undefined {
  if (eventCountOf(state) < MAX_EVENTS[type]) return undefined;
  return type === 'JoinRoom' ? roomFull : type === 'OpenRoom' ? roomExists : tooLong;
}

/** Counts the events in the log, over all meetings of the room. */
const eventCountOf = ({ facts, readable }: RoomState): number =>
  readable.reduce((sum, each) => sum + each.facts, facts);
