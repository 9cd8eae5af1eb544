/** A meeting room: who may come in, who is there, who decides. Stream `meeting.room-<id>`. */
import { type Decider, isRejection, type Rejection } from '../shared/index.js';
import type { RoomEvent } from './catalog.js';
import { comeBack, fillSeats, type JoinRoom, join, type OpenRoom, open, type ReturnToRoom } from './join.js';
import {
  type EndRoom,
  type EraseMeeting,
  end,
  erase,
  type LeaveRoom,
  type LoseConnection,
  type LoseNode,
  leave,
  loseConnection,
  loseNode,
} from './leave.js';
import { type InsideCommand, inside } from './participant-actions.js';
import { after, evolve, initialState, type RoomState } from './state.js';
import { limitFor } from './stream-limit.js';

export type RoomCommand =
  | OpenRoom
  | JoinRoom
  | ReturnToRoom
  | LeaveRoom
  | LoseConnection
  | LoseNode
  | EndRoom
  | EraseMeeting
  | InsideCommand;

/**
 * What is already so, or refused, is so in a room of any length. Whatever happens, a seat that is free after it goes to
 * those who wait.
 */
function decide(command: RoomCommand, state: RoomState): readonly RoomEvent[] | Rejection {
  const decision = comesTo(command, state);
  if (isRejection(decision) || decision.length === 0) return decision;
  const { roomId, now } = command;
  const isTooLong = limitFor(command.type, state);
  return isTooLong ?? [...decision, ...fillSeats(roomId, after(state, decision), now)];
}

function comesTo(command: RoomCommand, state: RoomState): readonly RoomEvent[] | Rejection {
  switch (command.type) {
    case 'OpenRoom':
      return anew(command, state, (free) => open(command, free));
    case 'JoinRoom':
      return anew(command, state, (free) => join(command, free));
    case 'ReturnToRoom':
      return comeBack(command, state);
    case 'LeaveRoom':
      return leave(command, state);
    case 'LoseConnection':
      return loseConnection(command, state);
    case 'LoseNode':
      return loseNode(command, state);
    case 'EndRoom':
      return end(command, state);
    case 'EraseMeeting':
      return erase(command, state);
    default:
      return inside(command, state);
  }
}

/** On a room that is free again where its time is over, whether or not the log has been told yet. */
function anew(
  { roomId, now }: { readonly roomId: string; readonly now: number },
  state: RoomState,
  decideOn: (state: RoomState) => readonly RoomEvent[] | Rejection,
): readonly RoomEvent[] | Rejection {
  const over = end({ roomId, now }, state);
  const decision = decideOn(after(state, over));
  return 'rejected' in decision ? decision : [...over, ...decision];
}

export const room: Decider<RoomState, RoomCommand, RoomEvent> = { initialState, decide, evolve };
