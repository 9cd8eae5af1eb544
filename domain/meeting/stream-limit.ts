/** How long the stream of a room may get: it is read whole where it is not remembered, while somebody waits. */
import type { Rejection } from '../shared/index.js';
import { roomExists, roomFull } from './join.js';
import type { RoomState } from './state.js';

const OWN_FLAGS_LIMIT = 20_000;
const JOIN_LIMIT = 25_000;
const MODERATION_LIMIT = 30_000;
const UNLIMITED = Number.POSITIVE_INFINITY;

/**
 * Facts of a stream up to which there may be more of each. First people change themselves no more, then nobody new comes
 * in, at last nothing is moderated; what goes or ends must be able to, and there is only so much of it.
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
  detail: 'Too much has happened in this room, make another one',
};

/** Why a command may bring about nothing more, where that is so. */
export function limitFor(type: keyof typeof MAX_EVENTS, state: RoomState): Rejection | undefined {
  if (eventCountOf(state) < MAX_EVENTS[type]) return undefined;
  return type === 'JoinRoom' ? roomFull : type === 'OpenRoom' ? roomExists : tooLong;
}

/** Those that are kept, of all meetings of the room. */
const eventCountOf = ({ facts, readable }: RoomState): number =>
  readable.reduce((sum, each) => sum + each.facts, facts);
