/** Who speaks: decided from levels, with pauses between words bridged, so that the view does not flicker. */

export interface Speakers {
  /** Ids of all who speak. */
  readonly speaking: ReadonlySet<string>;
  /** The person to show in large: never ourselves; stays after they have stopped. */
  readonly current: string | undefined;
  /** Unix ms at which each was last loud. */
  readonly loudAt: ReadonlyMap<string, number>;
  /** Unix ms since when `current` is shown. */
  readonly since: number;
}

export const silence: Speakers = { speaking: new Set(), current: undefined, loudAt: new Map(), since: 0 };

const LOUD = 0.2;
/** Pauses between words. */
const BRIDGE_MS = 800;
/** A person stays large for at least this time. */
const DWELL_MS = 2000;

/** Returns the same object while nothing changes that is shown. */
export function nextSpeakers(
  before: Speakers,
  levels: ReadonlyMap<string, number>,
  me: string | undefined,
  now: number,
): Speakers {
  const loudAt = new Map([...before.loudAt].filter(([id, at]) => levels.has(id) && now - at < BRIDGE_MS));
  for (const [id, level] of levels) if (level >= LOUD) loudAt.set(id, now);
  const speaking = new Set(loudAt.keys());
  const present = before.current !== undefined && levels.has(before.current) ? before.current : undefined;
  const others = [...speaking].filter((id) => id !== me);
  const mayChange = present === undefined || (!speaking.has(present) && now - before.since >= DWELL_MS);
  const loudest = others.sort((a, b) => (levels.get(b) ?? 0) - (levels.get(a) ?? 0))[0];
  const current = mayChange ? (loudest ?? present) : present;
  const isSame = sameSet(speaking, before.speaking) && current === before.current;
  if (isSame && loudAt.size === 0) return before;
  return {
    speaking: isSame ? before.speaking : speaking,
    current,
    loudAt,
    since: current === before.current ? before.since : now,
  };
}

const sameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>) =>
  a.size === b.size && [...a].every((id) => b.has(id));
