/** The ways of signing in. Each starts the session, or rejects with a message for people. */
import { stored } from '../../shared/storage.js';
import { beginSession, type SignedIn } from '../session.js';
import { guest } from './config.js';

/** The email last signed in with, to fill in the next time. */
export const lastEmail = stored('chat.email', '');

async function begin(path: string, body: object, email: string | undefined): Promise<void> {
  const answer = await guest.json<SignedIn & { readonly token?: string }>('POST', path, { body });
  if (email) lastEmail.set(email);
  beginSession({ ...answer, accessToken: answer.token ?? answer.accessToken });
}

export const signInWithEmail = (email: string): Promise<void> => begin('auth/dev-login', { email }, email);

export const signInWithPassword = (email: string, password: string): Promise<void> =>
  begin('auth/password-login', { email, password }, email);

export const register = (email: string, password: string): Promise<void> =>
  begin('auth/register', { email, password }, email);

export const signInWithLink = (token: string, email: string | undefined): Promise<void> =>
  begin('auth/verify', { token, ...(email && { email }) }, email);

export const setPassword = (token: string, email: string | undefined, password: string): Promise<void> =>
  begin('auth/setup-password', { token, password, ...(email && { email }) }, email);

/** Mails a link to sign in, if the email is a user's. */
export async function requestLink(email: string): Promise<void> {
  await guest.send('POST', 'auth/login', { body: { email } });
  lastEmail.set(email);
}

/** Mails a link to set a password, if the email is a user's. */
export async function requestReset(email: string): Promise<void> {
  await guest.send('POST', 'auth/request-password-reset', { body: { email } });
}
