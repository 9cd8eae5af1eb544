/** What records cost on their way into the log, counted as they are in memory. */

/** All of ingest: three bodies of the largest kind, or hundreds of the usual. One caller has budget for two of them. */
export const INTAKE_BYTES = 96 * 1024 * 1024;
/** What a record costs besides its text. */
export const RECORD_COST = 128;
