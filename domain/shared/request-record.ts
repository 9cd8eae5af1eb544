/**
 * Idempotency record of a request whose stream does not follow from its `Idempotency-Key`, such as a conversation named
 * by its participants: only this record detects a key that is reused with another request. Stream
 * `<service>.request-<id>`. Also records tokens that can be used once.
 */
import { type Decider, type DomainEvent, event } from './decider.js';
import { object, time } from './schema.js';

/** For the catalog of a service that records requests. The `fingerprint` of the event identifies the request. */
export const requestEvents = { RequestRecorded: event(object({ recordedAt: time })) } as const;

export type RequestRecorded = DomainEvent<'RequestRecorded', { readonly recordedAt: number }>;

export interface RecordRequest {
  readonly type: 'RecordRequest';
  readonly now: number;
}

interface RequestState {
  readonly isRecorded: boolean;
}

export const requestRecord: Decider<RequestState, RecordRequest, RequestRecorded> = {
  initialState: { isRecorded: false },
  decide: ({ now }, { isRecorded }) => (isRecorded ? [] : [{ type: 'RequestRecorded', data: { recordedAt: now } }]),
  evolve: { RequestRecorded: () => ({ isRecorded: true }) },
};
