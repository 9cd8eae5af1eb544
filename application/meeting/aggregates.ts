/** Aggregates of the meeting service, as the command kernel loads them. */
import { catalog, type RequestEvent, type RoomEvent } from '../../domain/meeting/catalog.js';
import { type RoomCommand, room } from '../../domain/meeting/room.js';
import { type RequestRoom, type RequestState, request } from '../../domain/meeting/room-request.js';
import type { RoomState } from '../../domain/meeting/state.js';
import type { Aggregate } from '../command/index.js';

/** No rule depends on the names in these events, so commands do not decrypt them. */
export const roomAggregate: Aggregate<RoomState, RoomCommand, RoomEvent> = {
  catalog,
  decider: room,
  decrypts: 'none',
};

/** The request event is the first of its stream, and streams expire. */
export const requestAggregate: Aggregate<RequestState, RequestRoom, RequestEvent> = {
  catalog,
  decider: request,
  creates: () => true,
  maxAge: true,
};
