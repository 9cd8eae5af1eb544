/** Reads what an address of a mail or of an OAuth provider brings. */
import type { SignedIn } from '../session.js';

export type Entry =
  | { readonly kind: 'link' | 'set-password'; readonly token: string; readonly email: string | undefined }
  | { readonly kind: 'tokens'; readonly tokens: SignedIn }
  | { readonly kind: 'oauth-error'; readonly code: string };

/** Undefined if the address brings nothing. */
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
