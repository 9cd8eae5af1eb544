/**
 * What the address brought: the token of a mailed link, or the result of an OAuth provider. It is removed from the
 * address at once, so that it stays neither in the history nor in what people copy.
 */
import { signal } from '@preact/signals';
import { navigate } from '../../shared/route.js';
import { stored } from '../../shared/storage.js';
import { beginSession, type SignedIn } from '../session.js';

export type Entry =
  | { readonly kind: 'link' | 'set-password'; readonly token: string; readonly email: string | undefined }
  | { readonly kind: 'tokens'; readonly tokens: SignedIn }
  | { readonly kind: 'oauth-error'; readonly code: string };

/** The view to come back to, while this tab is at an OAuth provider. */
const returnTo = stored<string | null>('chat.oauth', null, () => sessionStorage);

/** Remembers that this tab asked for a sign-in by a provider. */
export const leaveForProvider = (): void => returnTo.set(location.hash);

export function readEntry({ pathname, search }: { pathname: string; search: string }): Entry | undefined {
  const query = new URLSearchParams(search);
  const [token, code] = [query.get('token'), query.get('oauth_error')];
  const [accessToken, refreshToken] = [query.get('access_token'), query.get('refresh_token')];
  if (code) return { kind: 'oauth-error', code };
  if (accessToken && refreshToken) {
    const exp = Number(query.get('expires_in')) || 60;
    return { kind: 'tokens', tokens: { accessToken, refreshToken, exp } };
  }
  if (!token) return undefined;
  const kind = pathname.endsWith('/reset') ? 'set-password' : 'link';
  return { kind, token, email: query.get('email') ?? undefined };
}

/**
 * Tokens that this tab did not ask for may come from somebody who wants others to write under their account: the page
 * asks first.
 */
function takeEntry(): Entry | undefined {
  const found = readEntry(location);
  if (!found && !location.search && !location.pathname.endsWith('/reset')) return undefined;
  const hash = returnTo.get();
  returnTo.remove();
  navigate(`./${location.hash || (hash ?? '')}`, { replace: true });
  if (found?.kind !== 'tokens' || hash === null) return found;
  beginSession(found.tokens);
  return undefined;
}

/** Until it is used or declined. */
export const entry = signal<Entry | undefined>(takeEntry());

export const declineEntry = (): void => {
  entry.value = undefined;
};
