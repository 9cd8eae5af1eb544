/** Read model of ended meetings that are still readable, by end time. */
import type { RoomEvent } from '../../domain/meeting/catalog.js';
import type { Projection } from '../kernel/index.js';

export const endedMeetings: Projection<RoomEvent<'RoomEnded' | 'MeetingErased'>> = {
  name: 'meeting.ended',
  version: 1,
  indexes: [{ key: { endedAt: 1 } }],
  on: {
    RoomEnded: ({ data: { roomId, meetingId, endedAt } }) => [
      { put: meetingId, update: { $set: { roomId, endedAt } } },
    ],
    MeetingErased: ({ data: { meetingId } }) => [{ remove: meetingId }],
  },
};
