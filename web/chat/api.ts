/** Requests of the signed-in user: with the session's token, sent again once with a new one after a 401. */
import { createHttp } from '../shared/api/http.js';
import { bearer, refreshSession } from './session.js';

export const http = createHttp({
  headers: () => bearer(),
  onUnauthorized: ({ Authorization = '' }) => refreshSession(Authorization.replace('Bearer ', '')),
});
