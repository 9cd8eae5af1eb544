/** Events and read models of the room service. */
import { roomsThings } from '../../../application/rooms/past-states.js';
import { catalog } from '../../../domain/rooms/catalog.js';
import { state } from '../../../projections/rooms/room-state.js';
import type { ServiceDefinition } from '../../node/service.js';

export const rooms: ServiceDefinition<typeof catalog> = {
  name: 'rooms',
  catalog,
  projections: [state],
  things: roomsThings,
};
