/** What a writer believes about a stream: a revision, or one of three words as negative numbers. */

export type ExpectedRevision = bigint;

/** The same numbers as the server uses in its error metadata. */
export const ANY: ExpectedRevision = -2n;
export const NO_STREAM: ExpectedRevision = -1n;
export const STREAM_EXISTS: ExpectedRevision = -4n;
