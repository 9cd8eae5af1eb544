/**
 * Idempotency record of a room creation: which room a key has created. A room's stream is found by the id callers
 * choose, so only this record detects a key reused with another room id. Stream `meeting.request-<id>`.
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

/** Seconds a key is remembered; a room lasts at least as long. */
export const REQUEST_SECONDS = 86_400;

export const request: Decider<RequestState, RequestRoom, RequestEvent> = {
  initialState: { isMade: false },
  decide: ({ roomId, meetingId, now }, { isMade }) =>
    isMade ? [] : [{ type: 'RoomRequested', data: { roomId, meetingId, requestedAt: now } }],
  evolve: { RoomRequested: () => ({ isMade: true }) },
};
