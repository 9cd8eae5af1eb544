/** Aggregate definitions of a room: the room itself and its messages. */
import { catalog } from '../../domain/rooms/catalog.js';
import { MAX_MESSAGES, messages } from '../../domain/rooms/messages.js';
import { notFound, room } from '../../domain/rooms/room.js';
import { aggregatesOf } from '../command/index.js';

const aggregate = aggregatesOf(catalog);

/** Every request on an ended room is answered "not found". */
export const roomAggregate = aggregate(room, {
  creates: ({ type }) => type === 'CreateRoom',
  termination: {
    rejection: notFound,
    isEnded: ({ status }) => status === 'burned' || status === 'expired',
    endsAt: ({ expiresAt }) => expiresAt,
  },
});
export const messagesAggregate = aggregate(messages, {
  decrypts: 'none',
  maxCount: MAX_MESSAGES,
  termination: { rejection: notFound },
});
