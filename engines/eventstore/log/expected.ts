/** The revision a writer expects a stream to have: a revision, or one of three constants below zero. */

export type ExpectedRevision = bigint;

/** Same values as in the server's error metadata. */
export const ANY: ExpectedRevision = -2n;
export const NO_STREAM: ExpectedRevision = -1n;
export const STREAM_EXISTS: ExpectedRevision = -4n;
