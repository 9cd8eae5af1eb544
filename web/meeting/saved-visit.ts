/** What brings us back into a meeting after a reload of the tab. It is stored only while the page is away. */
import type { Unsent } from './outbox.js';
import type { Identity } from './session.js';

export interface Stay {
  readonly roomId: string;
  readonly name: string;
  readonly title: string;
  readonly picture: 'camera' | 'drawing';
  /** None when we were not in the meeting any more. */
  readonly identity?: Identity | undefined;
  readonly unsent: readonly Unsent[];
  /** Unix ms. */
  readonly leftAt: number;
}

const KEY = 'meeting.stay';
/** The default of `meeting.returnSeconds`: a later return is a new participant, who joins by the form. */
const RETURN_MS = 20_000;

export const storeStay = (stay: Stay): void => sessionStorage.setItem(KEY, JSON.stringify(stay));

/** A copy of the tab finds nothing there, so that it does not take the place of the first. */
export function takeStay(): Stay | undefined {
  const stored = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return stored === null ? undefined : JSON.parse(stored);
}

/** Unix ms until when the place is held. */
export const heldUntil = ({ leftAt }: Stay): number => leftAt + RETURN_MS;
