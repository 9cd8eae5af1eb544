/** Decider of a meeting room. Stream `meeting.room-<id>`. */
import { type Decider, isRejection, type Rejection } from '../shared/index.js';
import type { RoomEvent } from './catalog.js';
import { admitNextWaiting, type JoinRoom, join, type OpenRoom, open, type ReturnToRoom, returnToRoom } from './join.js';
import {
  type EndRoom,
  type EraseMeeting,
  end,
  erase,
  type LeaveRoom,
  type LoseConnection,
  leave,
  loseConnection,
  type RemovePeopleOfNode,
  removePeopleOfNode,
} from './leave.js';
import { decideParticipantAction, type ParticipantCommand } from './participant-actions.js';
import { applyEvents, evolve, initialState, type RoomState } from './state.js';
import { limitFor } from './stream-limit.js';

export type RoomCommand =
  | OpenRoom
  | JoinRoom
  | ReturnToRoom
  | LeaveRoom
  | LoseConnection
  | RemovePeopleOfNode
  | EndRoom
  | EraseMeeting
  | ParticipantCommand;

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
