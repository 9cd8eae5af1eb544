/** Aggregates of the meeting service, as the command kernel loads them. */
import { catalog } from '../../domain/meeting/catalog.js';
import { room } from '../../domain/meeting/room.js';
import { aggregatesOf } from '../command/index.js';

const aggregate = aggregatesOf(catalog);

/** No rule depends on the names in these events, so commands do not decrypt them. */
export const roomAggregate = aggregate(room, { decrypts: 'none' });
