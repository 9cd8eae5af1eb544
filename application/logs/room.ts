/** Room for what is on its way into the log, counted as it is in memory: what finds none is told to come back. */

export interface Room {
  /**
   * False, and nothing is taken, when there is not so much left, or when `whose` would hold more than its share.
   * Whoever is alone gets any amount.
   */
  take(bytes: number, whose?: string): boolean;
  /** To whom it was given. */
  give(bytes: number, whose?: string): void;
  used(): number;
}

/** Bytes, whatever they are of; `share` is the most that one may hold of them who is named. */
export function createRoom(most: number, share = most): Room {
  let used = 0;
  const held = new Map<string, number>();
  return {
    take(bytes, whose) {
      const mine = whose === undefined ? 0 : (held.get(whose) ?? 0);
      if (used > 0 && used + bytes > most) return false;
      if (mine > 0 && mine + bytes > share) return false;
      used += bytes;
      if (whose !== undefined) held.set(whose, mine + bytes);
      return true;
    },
    give(bytes, whose) {
      used -= bytes;
      if (whose === undefined) return;
      const left = (held.get(whose) ?? 0) - bytes;
      if (left > 0) held.set(whose, left);
      else held.delete(whose);
    },
    used: () => used,
  };
}

/** All of ingest: three bodies of the largest kind, or hundreds of the usual. */
export const INTAKE_BYTES = 96 * 1024 * 1024;
/** Of one caller's bodies: two of the largest kind, so that there is room for another caller's. */
export const CALLER_BYTES = 64 * 1024 * 1024;

/**
 * What a body costs while it is worked on, as a multiple of its bytes: itself, its text, the texts of its records,
 * and what is being sealed of them.
 */
export const BODY_COST = 4;
/** What a record costs besides its text. */
export const RECORD_COST = 128;
