/** Decider of a meeting room. Stream `meeting.room-<id>`. */
import { type Decider, isRejection, type Rejection, rejection } from '../shared/index.js';
import type { RoomEvent } from './catalog.js';
import type { RoomCommand } from './commands.js';
import { admitNextWaiting, join, open, returnToRoom, roomExists, roomFull } from './join.js';
import { end, erase, leave, loseConnection, removePeopleOfNode } from './leave.js';
import { decideParticipantAction } from './participant-actions.js';
import { applyEvents, evolve, initialState, type RoomState } from './state.js';

const OWN_FLAGS_LIMIT = 20_000;
const JOIN_LIMIT = 25_000;
const MODERATION_LIMIT = 30_000;

/**
 * Stream length up to which each command may add events, because a command on an uncached room replays all of it. Own
 * changes stop first, then joins, then moderation. All other commands are always possible: departures and endings are
 * bounded by the number of people.
 */
const MAX_EVENTS: { readonly [type in RoomCommand['type']]?: number } = {
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
};

const tooLong = rejection('meeting/too-long', 'limit', 'This room has reached its event limit; create another one');

/** Returns the rejection of a command that would exceed the limit. */
function limitFor(type: RoomCommand['type'], state: RoomState): Rejection | undefined {
  if (eventCountOf(state) < (MAX_EVENTS[type] ?? Number.POSITIVE_INFINITY)) return undefined;
  return type === 'JoinRoom' ? roomFull : type === 'OpenRoom' ? roomExists : tooLong;
}

/** Counts the events in the log, over all meetings of the room. */
const eventCountOf = ({ facts, readable }: RoomState): number =>
  readable.reduce((sum, each) => sum + each.facts, facts);

/**
 * Decides a command. The stream limit applies only to commands that produce events. After each, free places go to
 * waiting people.
 */
function decide(command: RoomCommand, state: RoomState): readonly RoomEvent[] | Rejection {
  const decision = decideUnlimited(command, state);
  if (isRejection(decision) || decision.length === 0) return decision;
  const { roomId, now } = command;
  const isTooLong = limitFor(command.type, state);
  return isTooLong ?? [...decision, ...admitNextWaiting(roomId, applyEvents(state, decision), now)];
}

function decideUnlimited(command: RoomCommand, state: RoomState): readonly RoomEvent[] | Rejection {
  switch (command.type) {
    case 'OpenRoom':
      return endExpiredFirst(command, state, (vacant) => open(command, vacant));
    case 'JoinRoom':
      return endExpiredFirst(command, state, (vacant) => join(command, vacant));
    case 'ReturnToRoom':
      return returnToRoom(command, state);
    case 'LeaveRoom':
      return leave(command, state);
    case 'LoseConnection':
      return loseConnection(command, state);
    case 'RemovePeopleOfNode':
      return removePeopleOfNode(command, state);
    case 'EndRoom':
      return end(command, state);
    case 'EraseMeeting':
      return erase(command, state);
    default:
      return decideParticipantAction(command, state);
  }
}

/** Decides on a vacant room if the current meeting has expired, even if its end is not recorded yet. */
function endExpiredFirst(
  { roomId, now }: { readonly roomId: string; readonly now: number },
  state: RoomState,
  decideOn: (state: RoomState) => readonly RoomEvent[] | Rejection,
): readonly RoomEvent[] | Rejection {
  const ending = end({ roomId, now }, state);
  const decision = decideOn(applyEvents(state, ending));
  return 'rejected' in decision ? decision : [...ending, ...decision];
}

export const room: Decider<RoomState, RoomCommand, RoomEvent> = { initialState, decide, evolve };
