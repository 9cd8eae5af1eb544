/** Debounced checkpoint writer: saves the positions of builds in the background, soon after they have advanced. */
import type { Position } from '../../application/ports/index.js';

interface CheckpointTarget {
  readonly collection: string;
  readonly position: Position;
  /** Set by the writer; call it when the position has advanced. */
  onAdvance(): void;
}

interface CheckpointWriterOptions {
  /** Saves checkpoints; false if another leader has saved them meanwhile. */
  readonly advance: (positions: { readonly [collection: string]: Position }) => Promise<boolean>;
  readonly refused: () => void;
  /** Called on every failure; saving is retried with backoff. */
  readonly failed: (error: unknown) => void;
}

/** Milliseconds from a change to the save. */
const SAVE_MS = 50;
/** Longest delay after failures, ms. */
const MAX_BACKOFF_MS = 5000;

/** Creates a writer that runs until `end`, which saves once more. */
export function createCheckpointWriter(
  targets: readonly CheckpointTarget[],
  { advance, refused, failed }: CheckpointWriterOptions,
) {
  let saved = new Map<string, Position>();
  let saving: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let delayMs = SAVE_MS;
  let isEnded = false;
  const unsaved = () => targets.filter(({ collection, position }) => position > (saved.get(collection) ?? 0n));

  async function save() {
    const current = targets.map(({ collection, position }) => [collection, position] as const);
    const changes = unsaved().map(({ collection, position }) => [collection, position] as const);
    try {
      if (await advance(Object.fromEntries(changes))) saved = new Map(current);
      else refused();
      delayMs = SAVE_MS;
    } catch (error) {
      delayMs = Math.min(delayMs * 2, MAX_BACKOFF_MS);
      failed(error);
    }
  }

  function scheduleSave() {
    if (isEnded) return;
    timer ??= setTimeout(() => {
      saving = save().finally(() => {
        timer = undefined;
        if (unsaved().length > 0) scheduleSave();
      });
    }, delayMs);
  }

  for (const each of targets) each.onAdvance = scheduleSave;
  scheduleSave();
  return {
    async end() {
      isEnded = true;
      clearTimeout(timer);
      await saving;
      await save();
    },
  };
}
