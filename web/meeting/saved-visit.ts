/** What brings us back into a meeting after a reload of the tab. It is stored only while the page is away. */
import type { PendingMessage } from './outbox.js';
import type { Identity } from './session.js';

export interface SavedVisit {
  readonly roomId: string;
  readonly name: string;
  readonly title: string;
  readonly picture: 'camera' | 'drawing';
  /** None when we were not in the meeting any more. */
  readonly identity?: Identity | undefined;
  readonly unsent: readonly PendingMessage[];
  /** Unix ms. */
  readonly leftAt: number;
}

const KEY = 'meeting.stay';
/** The default of `meeting.returnSeconds`: a later return is a new participant, who joins by the form. */
const RETURN_MS = 20_000;

export const storeVisit = (visit: SavedVisit): void => sessionStorage.setItem(KEY, JSON.stringify(visit));

/** A copy of the tab finds nothing there, so that it does not take the place of the first. */
export function takeVisit(): SavedVisit | undefined {
  const stored = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return stored === null ? undefined : JSON.parse(stored);
}

/** Unix ms until when the place is held. */
export const resumableUntil = ({ leftAt }: SavedVisit): number => leftAt + RETURN_MS;
