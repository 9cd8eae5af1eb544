/** The dashboard, put together: who is signed in sees the sites, and of one of them a period, and what comes now. */
import { byId } from '../shared/dom.js';
import { ApiError, createApi, errorMessage } from './api.js';
import type { User } from './contract.js';
import { createDashboard } from './dashboard.js';
import { createSignIn } from './sign-in.js';

/** Sessions are renewed when half of their week is over: whoever has the page open all the time asks for it. */
const RENEW_EVERY_MS = 6 * 3_600_000;

const OVER = 'You are signed out, or your session is over: sign in again.';
const BAD_LINK = 'This link was used, is too old, or a newer one was sent. Ask for another one.';

const api = createApi(() => leave(OVER));
const dashboard = createDashboard(api, () => leave(OVER));
const signIn = createSignIn(api, enter);
let isInside = false;

function show(what: 'starting' | 'sign-in' | 'dashboard') {
  isInside = what === 'dashboard';
  for (const id of ['starting', 'sign-in', 'dashboard']) byId(id).hidden = id !== what;
}

function enter(user: User) {
  byId('who').textContent = user.email ?? user.role;
  show('dashboard');
  dashboard.begin();
}

function leave(why?: string) {
  api.forgetToken();
  dashboard.end();
  for (const dialog of document.querySelectorAll('dialog')) dialog.close();
  show('sign-in');
  signIn.show(why);
}

byId('sign-out').onclick = async () => {
  const failed = await api.signOut().then(() => '', errorMessage);
  leave(failed);
};
setInterval(() => isInside && void api.renew().catch(() => {}), RENEW_EVERY_MS);

/** A link leaves nothing of it in the history. */
async function start() {
  const address = new URL(location.href);
  const [token, email] = [address.searchParams.get('token'), address.searchParams.get('email')];
  if (token !== null) {
    for (const name of ['token', 'email']) address.searchParams.delete(name);
    history.replaceState(null, '', address);
    show('sign-in');
    signIn.offer(email, () => arrive(api.verify(token, email ?? undefined), BAD_LINK));
  } else await arrive(api.me(), '');
}

/** `nobody`: what is told to who is not let in. */
async function arrive(asked: Promise<{ readonly user: User }>, nobody: string) {
  try {
    enter((await asked).user);
  } catch (error) {
    const isNobody = error instanceof ApiError && error.status === 401;
    leave(isNobody ? nobody : errorMessage(error));
  }
}
void start();
