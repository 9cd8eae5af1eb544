/** The streams of meetings that commands are decided on, as the kernel takes them. */
import { catalog, type RequestEvent, type RoomEvent } from '../../domain/meeting/catalog.js';
import { type RoomCommand, room } from '../../domain/meeting/room.js';
import { type RequestRoom, type RequestState, request } from '../../domain/meeting/room-request.js';
import type { RoomState } from '../../domain/meeting/state.js';
import type { Seeing } from '../command/aggregate-store.js';

/** No rule asks what a meeting is called or its people are: their names are opened only where they are told. */
export const roomKind: Seeing<RoomState, RoomCommand, RoomEvent> = {
  catalog,
  decider: room,
  unread: ['RoomOpened', 'ParticipantJoined', 'EntryRequested', 'EntryRefused'],
};

/** Of which there is nothing before the request itself; kept for a time only. */
export const requestKind: Seeing<RequestState, RequestRoom, RequestEvent> = {
  catalog,
  decider: request,
  begins: () => true,
  expires: true,
};
