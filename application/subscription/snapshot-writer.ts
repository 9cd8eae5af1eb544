/** Keeps, for the next start, what the fold of a service was where its window begins (docs/guide/snapshots.md). */
import type { Position } from '../ports/index.js';
import type { Fold, SnapshotForm, SnapshotSize, Snapshots, StateAt } from './restore-fold.js';
import type { Windows } from './resume-window.js';
import { eventCount } from './stream-cursors.js';

export interface KeepOptions<State> {
  readonly service: string;
  readonly form: SnapshotForm<State>;
  /** As in the fold. */
  readonly reached?: Fold<State>['reached'];
  /** Of the snapshot that this start has read. */
  readonly kept?: SnapshotSize | undefined;
  readonly snapshots: Pick<Snapshots, 'write' | 'extend'>;
  /** As nodes leave them for the next start. */
  readonly windows: Pick<Windows, 'read'>;
  readonly now: () => StateAt<State>;
  /** What this start has begun with: it can be kept at once. */
  readonly begun?: StateAt<State> | undefined;
}

/** Of few streams a start may read so many events without a new snapshot, */
const FEW = 1000;
/** and one for so many parts: writing them all is paid for by what has been done since. */
const PARTS_FOR_ONE = 4;

/**
 * Keeps the snapshot that the next start needs, at most as new as the window is old: a state of now is held back until
 * the window begins behind it. To be called now and then, one call at a time; says whether it has written a whole one.
 */
export function createSnapshotKeeper<State>(options: KeepOptions<State>) {
  const { service, form, reached, snapshots, windows, now } = options;
  const { version } = form;
  let { kept = { events: 0, parts: 0 } } = options;
  let held = options.begun;
  let written: (StateAt<State> & { readonly until: Position }) | undefined;

  const eventsIn = (state: State) => (reached ? eventCount(reached(state)) : 0);
  const isDue = (state: State) => !reached || eventsIn(state) - kept.events >= FEW + kept.parts / PARTS_FOR_ONE;

  return async (): Promise<boolean> => {
    held ??= now();
    const window = await windows.read(service);
    if (!window || window.from < held.position) return false;
    const { state, position } = held;
    held = undefined;
    if (!isDue(state)) return false;
    // One state is one object: what is the same has had no fact since.
    if (written?.state === state) {
      if (written.until === position) return false;
      if (await snapshots.extend(service, version, written.position, position)) {
        written = { ...written, until: position };
        return false;
      }
    }
    let parts = 0;
    const counted = function* () {
      for (const part of form.parts(state)) {
        parts++;
        yield part;
      }
    };
    const isWritten = await snapshots.write(service, version, position, counted());
    written = isWritten ? { state, position, until: position } : undefined;
    // Where another node has written a newer one, that will do as well.
    kept = { events: eventsIn(state), parts };
    return true;
  };
}
