/** Saves how far builds have come, beside what moves them on: soon after they have, and not while nothing happens. */
import type { Position } from '../../application/ports/index.js';

interface Moving {
  readonly collection: string;
  readonly position: Position;
  /** Told when there is something to save. */
  moved(): void;
}

interface Saving {
  /** False when another one has moved them on since. */
  readonly advance: (positions: { readonly [collection: string]: Position }) => Promise<boolean>;
  readonly refused: () => void;
  /** It is tried again, ever less often. */
  readonly failed: (error: unknown) => void;
}

const SAVE_MS = 50;
/** Twice as long after each failure in a row, up to this. */
const MOST_MS = 5000;

/** Saves until it is ended, which saves once more. */
export function createCheckpointWriter(targets: readonly Moving[], { advance, refused, failed }: Saving) {
  let saved = new Map<string, Position>();
  let saving: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let wait = SAVE_MS;
  let ended = false;
  const unsaved = () => targets.filter(({ collection, position }) => position > (saved.get(collection) ?? 0n));

  async function save() {
    const now = targets.map(({ collection, position }) => [collection, position] as const);
    const moved = unsaved().map(({ collection, position }) => [collection, position] as const);
    try {
      if (await advance(Object.fromEntries(moved))) saved = new Map(now);
      else refused();
      wait = SAVE_MS;
    } catch (error) {
      wait = Math.min(wait * 2, MOST_MS);
      failed(error);
    }
  }

  function saveSoon() {
    if (ended) return;
    timer ??= setTimeout(() => {
      saving = save().finally(() => {
        timer = undefined;
        if (unsaved().length > 0) saveSoon();
      });
    }, wait);
  }

  for (const each of targets) each.moved = saveSoon;
  saveSoon();
  return {
    async end() {
      ended = true;
      clearTimeout(timer);
      await saving;
      await save();
    },
  };
}
