/** Route of the event stream of the chat, with the schemas of its frames. */
import { randomUUID } from 'node:crypto';
import { type ChatState, isEntitled, streamKeysOf } from '../../../application/chat/audience/audience.js';
import type { Presence } from '../../../application/chat/people/presence.js';
import type { Authentication, Caller } from '../../../application/chat/sign-in/authenticate.js';
import type { Clock, Position } from '../../../application/ports/index.js';
import type { Delivery } from '../../../application/subscription/index.js';
import { object, type Properties } from '../../../domain/shared/index.js';
import type { Relay } from '../../realtime/relay/relay.js';
import type { Sink } from '../../realtime/relay/sink.js';
import { type Route, route } from '../server/route.js';
import * as schemas from './message-schemas.js';
import { presenceEntry } from './presence.js';
import { text, user } from './schemas.js';
import { settings } from './server-settings.js';
import { webhook } from './webhooks.js';

export interface EventsDeps {
  readonly admission: Authentication;
  readonly relay: Relay<ChatState>;
  readonly clock: Clock;
  readonly presence: Pick<Presence, 'trackStream'>;
}

const participants = schemas.list(text);
const direct = { conversationId: text, participants };
const { reactions, threadMeta } = schemas;
const message = object(schemas.messageFields, { reactions, threadMeta });
const directMessage = object({ ...schemas.messageFields, ...direct }, { reactions });
const reaction = object({ messageId: text, channelId: text, userId: text, reaction: text }, direct);
const userWithEmail = object({ ...user.properties, email: text });
const replyPayload = { ...schemas.replyFields, parentMessageId: text, threadMeta };

const payloads: { readonly [type: string]: { readonly properties: Properties } } = {
  CONNECTED: object({ message: text, timestamp: text, userId: text, connectionId: text }),
  NEW_MESSAGE: message,
  UPDATE_MESSAGE: message,
  DELETE_MESSAGE: object({ id: text, channelId: text }),
  NEW_CHANNEL: schemas.channel,
  UPDATE_CHANNEL: schemas.channel,
  DELETE_CHANNEL: object({ id: text, name: text }),
  NEW_REACTION: reaction,
  DELETE_REACTION: reaction,
  NEW_USER: userWithEmail,
  REMOVE_USER: userWithEmail,
  USER_EXIT: user,
  UPDATE_USER: user,
  NEW_CONVERSATION: schemas.conversation,
  NEW_DM_MESSAGE: directMessage,
  UPDATE_DM_MESSAGE: directMessage,
  DELETE_DM_MESSAGE: object({ id: text, channelId: text, ...direct }),
  NEW_THREAD_REPLY: object({ ...replyPayload, reply: schemas.reply }, { reactions }),
  UPDATE_THREAD_REPLY: object(replyPayload, { reactions }),
  DELETE_THREAD_REPLY: object({
    id: text,
    threadId: text,
    parentMessageId: text,
    channelId: text,
    threadMeta: { anyOf: [threadMeta, { type: 'null' }] },
  }),
  NEW_WEBHOOK: webhook,
  DELETE_WEBHOOK: object({ id: text, channelId: text }),
  UPDATE_SERVER_SETTINGS: settings,
  PRESENCE_UPDATE: presenceEntry,
};

const frames = Object.entries(payloads).map(([type, payload]) => ({
  title: type,
  ...object({ type: { const: type }, payload }),
}));
const reset = {
  title: 'RESET',
  description: 'Missed events are no longer available: read the state again',
  ...object({ type: { const: 'RESET' } }),
};

const frame = {
  description: 'Each `data:` line of the stream is the JSON of one of these',
  oneOf: [...frames, reset],
};

export function eventsRoute({ admission, relay, clock, presence }: EventsDeps): Route {
  function connect(caller: Caller, after: Position | undefined, sink: Sink) {
    // The session may have ended since admission, and its end only reached streams that were open then.
    const session = admission.session(caller);
    if (!session) return sink.end('resume');
    const { userId } = caller;
    const timestamp = new Date(clock.now()).toISOString();
    const connected = { message: 'Connected', timestamp, userId, connectionId: randomUUID() };
    const greeting = { type: 'CONNECTED', payload: connected };
    const entitled = (delivery: Delivery, now: ChatState) => isEntitled(delivery, now, userId);
    const until = { at: session.expiresAt };
    relay.connect({ keys: streamKeysOf(caller), greeting, until, entitled, after }, sink);
    sink.onClose(presence.trackStream(userId));
  }

  return route({
    method: 'GET',
    path: '/events',
    summary: 'Events of the chat, as server-sent events',
    description:
      'Each is `{type, payload}`: first `CONNECTED`, then events of users (`NEW_USER`, `REMOVE_USER`, `USER_EXIT`, ' +
      '`UPDATE_USER`), channels (`NEW_`, `UPDATE_`, `DELETE_CHANNEL`: also when the caller is added or removed), messages ' +
      '(`NEW_`, `UPDATE_`, `DELETE_MESSAGE`, `NEW_`, `DELETE_REACTION`, `NEW_`, `UPDATE_`, `DELETE_THREAD_REPLY`) and, for ' +
      'the two participants, conversations (`NEW_CONVERSATION`, `NEW_`, `UPDATE_`, `DELETE_DM_MESSAGE`). A payload is the ' +
      'complete object, without reactions beyond 1000 per message. Resume with `Last-Event-ID`; after too long a ' +
      'pause, `RESET` asks the client to read the state again. The stream ends with its session.',
    security: 'access',
    query: {
      type: 'object',
      properties: {
        token: { type: 'string', description: 'The access token, for clients that can not send headers' },
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
