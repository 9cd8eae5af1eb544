/** Requests of the signed-in user: with the session's token, sent again once with a new one after a 401. */
import { createHttp } from '../shared/api/http.js';
import { bearer, refreshSession, session, type User, updateUser } from './session.js';

export const http = createHttp({
  headers: () => bearer(),
  onUnauthorized: ({ Authorization = '' }) => refreshSession(Authorization.replace('Bearer ', '')),
});

/** Asks who the user is: a session from an earlier visit may have ended, and name and role may have changed. */
export async function checkSession(): Promise<void> {
  if (!session.value) return;
  const { user } = await http.json<{ user: User }>('GET', 'auth/me');
  if (session.value?.user.id === user.id) updateUser(user);
}
