/**
 * What a request that carries a key asks for: which room it is to make. A room's stream is found by the room's id, which
 * callers choose; by this one the same key, with another id, is found to be misused. Stream `meeting.request-<id>`.
 */
import type { Decider } from '../shared/index.js';
import type { RequestEvent } from './catalog.js';

export interface RequestRoom {
  readonly type: 'RequestRoom';
  readonly roomId: string;
  readonly meetingId: string;
  readonly now: number;
}

export interface RequestState {
  readonly isMade: boolean;
}

export const requestStream = (requestId: string): string => `meeting.request-${requestId}`;

/** So long a key is known; as long as what it made, or less. */
export const REQUEST_SECONDS = 86_400;

export const request: Decider<RequestState, RequestRoom, RequestEvent> = {
  initialState: { isMade: false },
  decide: ({ roomId, meetingId, now }, { isMade }) =>
    isMade ? [] : [{ type: 'RoomRequested', data: { roomId, meetingId, requestedAt: now } }],
  evolve: { RoomRequested: () => ({ isMade: true }) },
};
