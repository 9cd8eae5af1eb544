/** How long the stream of a room may get: it is read whole where it is not remembered, while somebody waits. */
import type { Rejection } from '../shared/index.js';
import { roomExists, roomFull } from './join.js';
import type { RoomState } from './state.js';

const OWN = 20_000;
const COMING = 25_000;
const MODERATING = 30_000;
const ALWAYS = Number.POSITIVE_INFINITY;

/**
 * Facts of a stream up to which there may be more of each. First people change themselves no more, then nobody new comes
 * in, at last nothing is moderated; what goes or ends must be able to, and there is only so much of it.
 */
const MOST_FACTS = {
  UpdateOneself: OWN,
  RaiseHand: OWN,
  LowerHand: OWN,
  OpenRoom: COMING,
  JoinRoom: COMING,
  ReturnToRoom: MODERATING,
  LockRoom: MODERATING,
  UnlockRoom: MODERATING,
  StartRecording: MODERATING,
  StopRecording: MODERATING,
  MuteParticipant: MODERATING,
  UnmuteParticipant: MODERATING,
  PromoteParticipant: MODERATING,
  AdmitUser: ALWAYS,
  RejectUser: ALWAYS,
  KickParticipant: ALWAYS,
  LeaveRoom: ALWAYS,
  LoseConnection: ALWAYS,
  LoseNode: ALWAYS,
  EndRoom: ALWAYS,
  EraseMeeting: ALWAYS,
} as const;

const tooLong: Rejection = {
  rejected: 'meeting/too-long',
  kind: 'limit',
  detail: 'Too much has happened in this room, make another one',
};

/** Why a command may bring about nothing more, where that is so. */
export function limitFor(type: keyof typeof MOST_FACTS, state: RoomState): Rejection | undefined {
  if (factsOf(state) < MOST_FACTS[type]) return undefined;
  return type === 'JoinRoom' ? roomFull : type === 'OpenRoom' ? roomExists : tooLong;
}

/** Those that are kept, of all meetings of the room. */
const factsOf = ({ facts, readable }: RoomState): number => readable.reduce((sum, each) => sum + each.facts, facts);
