/** Signing in by mailed link or admin token, and signing out. */
import { ApiError, messageOf } from '../../shared/api/http.js';
import { api, isUnauthorized } from '../api.js';
import type { User } from '../contract.js';
import { adminToken, endSession, enter, type SignInLink, session } from '../session.js';
import { signInTexts } from '../texts.js';

/** Signs in; shows `unauthorizedText` if the service rejects the credentials. */
async function signInWith(request: Promise<{ readonly user: User }>, unauthorizedText: string): Promise<void> {
  try {
    enter((await request).user);
  } catch (error) {
    endSession(isUnauthorized(error) ? unauthorizedText : messageOf(error));
  }
}

/** Offers the link of the address, or continues the session. Removes a token from the address and the history. */
export async function startSession(): Promise<void> {
  const address = new URL(location.href);
  const [token, email] = [address.searchParams.get('token'), address.searchParams.get('email')];
  if (token === null) return signInWith(api.me(), '');
  for (const name of ['token', 'email']) address.searchParams.delete(name);
  history.replaceState(null, '', address);
  session.value = { state: 'signed-out', reason: '', link: { token, email: email ?? undefined } };
}

export const useLink = ({ token, email }: SignInLink): Promise<void> =>
  signInWith(api.verify(token, email), signInTexts.badLink);

/** Rejects if the token is wrong. */
export async function signInByToken(token: string): Promise<void> {
  adminToken.set(token);
  try {
    enter((await api.me()).user);
  } catch (error) {
    adminToken.remove();
    throw isUnauthorized(error) ? new ApiError(signInTexts.badToken, 401) : error;
  }
}

export async function signOut(): Promise<void> {
  adminToken.remove();
  endSession(await api.signOut().then(() => '', messageOf));
}
