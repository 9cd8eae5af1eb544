/**
 * Sign-in data of the address: the token of a mailed link, or the result of an OAuth provider. It is removed from the
 * address immediately, so that it stays neither in the history nor in copied addresses.
 */
import { signal } from '@preact/signals';
import { navigate } from '../../shared/route.js';
import { stored } from '../../shared/storage.js';
import { beginSession, userOf } from '../session.js';
import { type Entry, readEntry } from './read-entry.js';

/** As long as the service takes a provider's answer. */
const LEAVE_MS = 600_000;

/** The view to come back to, while this tab is at an OAuth provider, and since when (Unix ms). */
const leave = stored<{ readonly hash: string; readonly at: number } | null>('chat.oauth', null, () => sessionStorage);

/** Remembers that this tab asked for a sign-in by a provider. */
export const leaveForProvider = (): void => void leave.set({ hash: location.hash, at: Date.now() });

function takeEntry(): Entry | undefined {
  const found = readEntry(location);
  if (!found && !location.search && !location.pathname.endsWith('/reset')) return undefined;
  const left = leave.get();
  leave.remove();
  navigate(`./${location.hash || (left?.hash ?? '')}`, { replace: true });
  return found?.kind === 'tokens' ? takeTokens(found, left !== null && Date.now() - left.at < LEAVE_MS) : found;
}

/**
 * Tokens that this tab did not request may come from an attacker who wants others to write under their account: the page
 * asks first.
 */
function takeTokens(found: Extract<Entry, { kind: 'tokens' }>, isExpected: boolean): Entry | undefined {
  try {
    userOf(found.tokens.accessToken);
  } catch {
    return { kind: 'oauth-error', code: 'server_error' };
  }
  if (!isExpected) return found;
  beginSession(found.tokens);
  return undefined;
}

/** Until it is used or declined. */
export const entry = signal<Entry | undefined>(takeEntry());

export const declineEntry = (): void => {
  entry.value = undefined;
};
