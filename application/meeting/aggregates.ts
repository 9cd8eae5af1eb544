/** The streams of meetings that commands are decided on, as the kernel takes them. */
import { catalog, type RequestEvent, type RoomEvent } from '../../domain/meeting/catalog.js';
import { type RoomCommand, room } from '../../domain/meeting/room.js';
import { type RequestRoom, type RequestState, request } from '../../domain/meeting/room-request.js';
import type { RoomState } from '../../domain/meeting/state.js';
import type { PlaintextAggregate } from '../command/index.js';

/** No rule asks what a meeting is called or its people are: their names are opened only where they are told. */
export const roomAggregate: PlaintextAggregate<RoomState, RoomCommand, RoomEvent> = {
  catalog,
  decider: room,
  unread: ['RoomOpened', 'ParticipantJoined', 'EntryRequested', 'EntryRefused'],
};

/** Of which there is nothing before the request itself; kept for a time only. */
export const requestAggregate: PlaintextAggregate<RequestState, RequestRoom, RequestEvent> = {
  catalog,
  decider: request,
  creates: () => true,
  maxAge: true,
};
