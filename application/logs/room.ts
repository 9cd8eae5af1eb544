/** Room for what is on its way into the log, counted as it is in memory: what finds none is told to come back. */

export interface Room {
  /** False, and nothing is taken, when there is not so much left. Whoever is alone gets any amount. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  used(): number;
}

/** Bytes, whatever they are of. */
export function createRoom(most: number): Room {
  let used = 0;
  return {
    take(bytes) {
      if (used > 0 && used + bytes > most) return false;
      used += bytes;
      return true;
    },
    give(bytes) {
      used -= bytes;
    },
    used: () => used,
  };
}

/** All of ingest: three bodies of the largest kind, or hundreds of the usual. */
export const INTAKE_BYTES = 96 * 1024 * 1024;

/**
 * What a body costs while it is worked on, as a multiple of its bytes: itself, its text, the texts of its records,
 * and what is being sealed of them.
 */
export const BODY_COST = 4;
/** What a record costs besides its text. */
export const RECORD_COST = 128;
