/** The refusal of a store whose disk is full, and whether trying again at once makes sense. */
import { Unavailable } from './index.js';

/** A store refuses writes because its disk is full; nothing of this one was stored. */
export class StoreFull extends Unavailable {
  override readonly name = 'StoreFull';
}

/** Whether the same call may succeed a moment later. */
export const isTransient = (error: unknown): boolean =>
  error instanceof Unavailable && !(error instanceof StoreFull);
