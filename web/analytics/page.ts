/** Entry point of the dashboard page: switches between sign-in and dashboard. */
import { byId } from '../shared/dom.js';
import { ApiError, createApi, errorMessage } from './api.js';
import type { User } from './contract.js';
import { createDashboard } from './dashboard.js';
import { createSignIn } from './sign-in.js';

/** Interval of renewal requests while the page is open; sessions last a week. */
const RENEW_EVERY_MS = 6 * 3_600_000;

const SESSION_ENDED = 'Your session has ended. Sign in again.';
const BAD_LINK = 'This link was used, has expired or was replaced by a newer one. Request a new link.';

const api = createApi(() => leave(SESSION_ENDED));
const dashboard = createDashboard(api, () => leave(SESSION_ENDED));
const signIn = createSignIn(api, enter);
let isSignedIn = false;

function show(view: 'starting' | 'sign-in' | 'dashboard') {
  isSignedIn = view === 'dashboard';
  for (const id of ['starting', 'sign-in', 'dashboard']) byId(id).hidden = id !== view;
}

function enter(user: User) {
  byId('who').textContent = user.email ?? user.role;
  show('dashboard');
  dashboard.begin();
}

function leave(text?: string) {
  api.forgetToken();
  dashboard.end();
  for (const dialog of document.querySelectorAll('dialog')) dialog.close();
  show('sign-in');
  signIn.show(text);
}

byId('sign-out').onclick = async () => {
  const error = await api.signOut().then(() => '', errorMessage);
  leave(error);
};
setInterval(() => isSignedIn && void api.renew().catch(() => {}), RENEW_EVERY_MS);

/** Removes sign-in tokens from the URL, so that they do not stay in the history. */
async function start() {
  const address = new URL(location.href);
  const [token, email] = [address.searchParams.get('token'), address.searchParams.get('email')];
  if (token !== null) {
    for (const name of ['token', 'email']) address.searchParams.delete(name);
    history.replaceState(null, '', address);
    show('sign-in');
    signIn.offer(email, () => signInWith(api.verify(token, email ?? undefined), BAD_LINK));
  } else await signInWith(api.me(), '');
}

/** Signs in; shows `unauthorizedText` if the service rejects the credentials. */
async function signInWith(request: Promise<{ readonly user: User }>, unauthorizedText: string) {
  try {
    enter((await request).user);
  } catch (error) {
    const isUnauthorized = error instanceof ApiError && error.status === 401;
    leave(isUnauthorized ? unauthorizedText : errorMessage(error));
  }
}
void start();
