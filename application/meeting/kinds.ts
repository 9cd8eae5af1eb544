/** The stream of a meeting room, as the kernel takes it. */
import { catalog, type RoomEvent } from '../../domain/meeting/catalog.js';
import { type RoomCommand, room } from '../../domain/meeting/room.js';
import type { RoomState } from '../../domain/meeting/state.js';
import type { Seeing } from '../command/streams.js';

/** No rule asks what a meeting is called or its people are: their names are opened only where they are told. */
export const roomKind: Seeing<RoomState, RoomCommand, RoomEvent> = {
  catalog,
  decider: room,
  unread: ['RoomOpened', 'ParticipantJoined', 'EntryRequested', 'EntryRefused'],
};
