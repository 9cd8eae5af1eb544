/** Memory limits of ingest. */

/** Bytes of all ingest: three bodies of the maximum size, or hundreds of usual ones. One caller may use two of them. */
export const INGEST_BYTES = 96 * 1024 * 1024;
/** Bytes of overhead of a record in memory. */
export const RECORD_COST = 128;
