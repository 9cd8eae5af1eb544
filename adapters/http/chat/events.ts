/** The event stream of the chat. */
import { type ChatState, connected, isEntitled, keysOf } from '../../../application/chat/audience/audience.js';
import type { Presence } from '../../../application/chat/people/presence.js';
import type { Authentication, Caller } from '../../../application/chat/sign-in/authenticate.js';
import type { Clock, Position } from '../../../application/ports/index.js';
import type { Delivery } from '../../../application/subscription/index.js';
import type { Relay } from '../../realtime/relay/relay.js';
import type { Sink } from '../../realtime/relay/sink.js';
import { type Route, route } from '../server/route.js';
import { frame } from './event-schemas.js';

export interface EventsDeps {
  readonly admission: Authentication;
  readonly relay: Relay<ChatState>;
  readonly clock: Clock;
  readonly presence: Pick<Presence, 'opened'>;
}

export function eventsRoute({ admission, relay, clock, presence }: EventsDeps): Route {
  function connect(caller: Caller, after: Position | undefined, sink: Sink) {
    // What became of the session since they were admitted has been told to the streams that were open then.
    const session = admission.session(caller);
    if (!session) return sink.end('resume');
    const { userId } = caller;
    const greeting = connected(userId, clock.now());
    const since = after === undefined ? {} : { after };
    const entitled = (delivery: Delivery, now: ChatState) => isEntitled(delivery, now, userId);
    const until = { at: session.expiresAt };
    relay.connect({ keys: keysOf(caller), greeting, until, entitled, ...since }, sink);
    sink.onClose(presence.opened(userId));
  }

  return route({
    method: 'GET',
    path: '/events',
    summary: 'What happens in the chat, as server-sent events',
    description:
      'Each is `{type, payload}`: `CONNECTED` first, then what happens to people (`NEW_USER`, `REMOVE_USER`, `USER_EXIT`, ' +
      '`UPDATE_USER`), channels (`NEW_`, `UPDATE_`, `DELETE_CHANNEL`: also where the caller is taken in, or out), messages ' +
      '(`NEW_`, `UPDATE_`, `DELETE_MESSAGE`, `NEW_`, `DELETE_REACTION`, `NEW_`, `UPDATE_`, `DELETE_THREAD_REPLY`) and, for ' +
      'the two alone, conversations (`NEW_CONVERSATION`, `NEW_`, `UPDATE_`, `DELETE_DM_MESSAGE`). A payload is the whole ' +
      'thing, but that more than 1000 reactions to a message are left out. Resume with `Last-Event-ID`; after too long a ' +
      'pause one `RESET` says to read the state again. The stream ends with its session.',
    security: 'access',
    query: {
      type: 'object',
      properties: {
        token: { type: 'string', description: 'The access token, for clients that can send no header' },
        lastEventId: { type: 'string' },
      },
    },
    answers: { 200: { description: 'The stream', type: 'text/event-stream', schema: frame } },
    admit: ({ bearer, query: { token }, ifPosition }) =>
      admission.authenticate(bearer ?? (typeof token === 'string' ? token : undefined), ifPosition),
    handle: ({ cursor }, caller) => ({
      stream: (sink) => connect(caller, cursor, sink),
      headers: { 'Cache-Control': 'no-cache' },
    }),
  });
}
