/** What many ask for in one moment is looked up for all of them together: strangers ask as often as they like. */

interface Flight {
  readonly running: Promise<unknown>;
  /** Begins when that is over, for all who came meanwhile. */
  next?: Promise<unknown>;
}

/**
 * Runs a look-up by its name. While one is under way whoever asks shares the next: what was begun before they asked may
 * be older than their question. So at most one of a name is under way at a time, and nobody waits for more than two.
 */
export function createSingleFlight() {
  const lanes = new Map<string, Flight>();

  function begin<Found>(name: string, look: () => Promise<Found>): Promise<Found> {
    const running = look();
    const lane: Flight = { running };
    lanes.set(name, lane);
    const over = () => {
      if (!lane.next) lanes.delete(name);
    };
    running.then(over, over);
    return running;
  }

  return <Found>(name: string, look: () => Promise<Found>): Promise<Found> => {
    const lane = lanes.get(name);
    if (!lane) return begin(name, look);
    const next = () => begin(name, look);
    lane.next ??= lane.running.then(next, next);
    return lane.next as Promise<Found>;
  };
}
