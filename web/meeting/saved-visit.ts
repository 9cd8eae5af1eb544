/** Saves the current visit for a reload of the tab; stored only between pagehide and the next load. */
import type { PendingMessage } from './messages/outbox.js';
import type { Identity } from './protocol/session.js';

export interface SavedVisit {
  readonly roomId: string;
  readonly name: string;
  readonly title: string;
  /** Lets who created the meeting in although it is locked. */
  readonly creatorToken?: string | undefined;
  /** Absent if we had left the meeting. */
  readonly identity?: Identity | undefined;
  readonly unsent: readonly PendingMessage[];
  /** Text in the field of the chat. */
  readonly draft: string;
  /** Unix ms. */
  readonly leftAt: number;
}

const KEY = 'meeting.stay';
/** Default of `meeting.returnSeconds`; a later return joins as a new participant, by the form. */
const RETURN_MS = 20_000;

export const storeVisit = (visit: SavedVisit): void => sessionStorage.setItem(KEY, JSON.stringify(visit));

/** Returns and removes the saved visit, so that a duplicated tab does not take our place. */
export function takeVisit(): SavedVisit | undefined {
  const stored = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return stored === null ? undefined : JSON.parse(stored);
}

/** Unix ms until which the visit can be resumed. */
export const resumableUntil = ({ leftAt }: Pick<SavedVisit, 'leftAt'>): number => leftAt + RETURN_MS;
