/** The routes of the encrypted rooms. */
import { connected, type EndedRooms, expired } from '../../../application/rooms/audience.js';
import type { RoomSession, OpenRoom, RoomAuthenticator } from '../../../application/rooms/authenticate.js';
import type { CommandResult, RoomCommands } from '../../../application/rooms/commands.js';
import type { RoomQueries } from '../../../application/rooms/queries.js';
import { type DataOf, isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { Relay } from '../../realtime/relay/relay.js';
import { frame, type Sink } from '../../realtime/relay/sink.js';
import { type Answer, JSON_TYPE } from '../server/answer.js';
import type { RateLimit } from '../server/rate-limit.js';
import { type Admit, type Method, type Request, type Route, route } from '../server/route.js';
import * as schemas from './schemas.js';

export interface RoomsDeps {
  readonly admission: RoomAuthenticator;
  readonly commands: RoomCommands;
  readonly queries: RoomQueries;
  readonly relay: Relay<EndedRooms>;
  readonly limitCreates: RateLimit;
  readonly minTtlMs: number;
  readonly maxTtlMs: number;
}

type Newcomer = Omit<DataOf<typeof schemas.joinBody>, 'inviteToken'>;

/** What a request says of the room that it is about. */
type InRoom = Pick<Request<unknown, unknown, { readonly roomId: string }>, 'params' | 'bearer' | 'ifPosition'>;

const GONE = { description: 'There is no such room, or not any more' };

const GUEST = 'rooms.guest';
const JSON_HEADERS = { 'Content-Type': JSON_TYPE };

export function roomsRoutes(deps: RoomsDeps): readonly Route[] {
  const { admission, commands, queries, relay, limitCreates, minTtlMs, maxTtlMs } = deps;

  const open: Admit<OpenRoom, InRoom> = ({ params, ifPosition }) => admission.open(params.roomId, ifPosition);
  const admit: Admit<RoomSession, InRoom> = ({ params, bearer, ifPosition }) =>
    admission.authenticate(params.roomId, bearer, ifPosition);

  const create = route({
    method: 'POST',
    path: '/rooms',
    summary: 'Create a room and enter it',
    body: schemas.createBody,
    answers: {
      201: { description: 'Made and entered', schema: schemas.joinResult },
      404: { description: 'A repetition, and the room is gone meanwhile' },
    },
    quota: {
      perNetwork: limitCreates,
      rejected: 'rooms/too-many-rooms',
      description: 'Too many rooms from this address',
    },
    async handle({ body, address, context }) {
      const ttlMs = Math.min(Math.max(Math.trunc(body.ttlMs), minTtlMs), maxTtlMs);
      return answer(201, await commands.create(newcomer(body), ttlMs, context(GUEST, address)));
    },
  });

  const invite = route({
    method: 'POST',
    path: '/rooms/:roomId/invites',
    summary: 'Make an invite that one person can come in with',
    security: 'session',
    body: schemas.inviteBody,
    answers: {
      200: { description: 'Made', schema: schemas.inviteResult },
      404: GONE,
      409: { description: "INVITE_EXISTS: the token is another invite's" },
      429: { description: 'Too many invites over the life of the room' },
    },
    admit,
    handle: async ({ body, context }, caller) =>
      answer(200, await commands.invite(caller, body.inviteToken, as(caller, context))),
  });

  const join = route({
    method: 'POST',
    path: '/rooms/:roomId/join',
    summary: 'Enter a room with an invite, which is spent by it',
    body: schemas.joinBody,
    answers: {
      201: { description: 'Entered', schema: schemas.joinResult },
      404: { description: 'There is no such room (any more), or no such invite: INVITE_NOT_FOUND' },
      409: { description: 'ROOM_FULL' },
      410: { description: 'INVITE_USED' },
    },
    admit: open,
    handle: async ({ body, address, context }, { roomId }) =>
      answer(201, await commands.join(roomId, body.inviteToken, newcomer(body), context(GUEST, address))),
  });

  const state = route({
    method: 'GET',
    path: '/rooms/:roomId/state',
    summary: 'Who is in the room, and its messages, oldest first',
    security: 'session',
    query: {
      type: 'object',
      properties: {
        after: { type: 'string', description: 'Id of a message: those after it, or all if it is unknown' },
      },
    },
    answers: { 200: { description: 'The room', schema: schemas.roomState }, 404: GONE },
    admit,
    async handle({ query, ifPosition }, caller) {
      const found = await queries.state(caller, query.after, ifPosition);
      if (isRejection(found)) return found;
      const { json, ...reflected } = found;
      return { status: 200, text: json, headers: JSON_HEADERS, ...reflected };
    },
  });

  const post = route({
    method: 'POST',
    path: '/rooms/:roomId/messages',
    summary: 'Post an encrypted, signed message',
    description: 'An Idempotency-Key is known for as long as its message is kept: one of the newest 1000.',
    security: 'session',
    body: schemas.envelopeBody,
    answers: {
      201: { description: 'Stored and on its way', schema: schemas.postResult },
      404: GONE,
      409: { description: 'MESSAGE_REPLAYED: the same envelope was posted before' },
      413: { description: 'The body, or a field of the envelope, is too large' },
      429: { description: 'Too many messages a minute, by the participant or in the room' },
    },
    admit,
    async handle({ body, context }, caller) {
      const done = await commands.post(caller, body, as(caller, context));
      return isRejection(done) ? done : { status: 201, body: { message: done.body }, position: done.position };
    },
  });

  const burn = (method: Method, path: '/rooms/:roomId/burn' | '/rooms/:roomId') =>
    route({
      method,
      path,
      summary: 'Burn the room',
      security: 'session',
      body: schemas.burnBody,
      answers: {
        200: { description: 'Nobody can read it any more', schema: schemas.success },
        404: GONE,
      },
      admit,
      async previousAnswer({ params, bearer, context }) {
        const done = await commands.findBurnResult(params.roomId, context(GUEST, bearer ?? ''));
        return done && answer(200, done);
      },
      async handle({ bearer, context }, { roomId, participant: { id } }) {
        return answer(200, await commands.burn(roomId, id, context(id, bearer ?? '')));
      },
    });

  const events = route({
    method: 'GET',
    path: '/rooms/:roomId/events',
    summary: 'What happens in the room, as server-sent events',
    description:
      'Each is `{type, payload}`: `CONNECTED`, `NEW_MESSAGE`, `PARTICIPANT_JOINED`, `ROOM_BURNED`, `ROOM_EXPIRED`; ' +
      'the last two end the stream. Resume with `Last-Event-ID`, or the `Position` of the state; after too long ' +
      'a pause one `RESET` says to read the state again.',
    security: 'session',
    query: {
      type: 'object',
      properties: {
        token: { type: 'string', description: 'The session token, for clients that can send no header' },
        lastEventId: { type: 'string' },
      },
    },
    answers: { 200: { description: 'The stream', type: 'text/event-stream' }, 404: GONE },
    admit: ({ params, bearer, query, ifPosition }) => {
      const { token } = query;
      return admission.authenticate(params.roomId, bearer ?? (typeof token === 'string' ? token : undefined), ifPosition);
    },
    handle: ({ cursor }, caller) => ({ stream: (sink) => connect(caller, cursor, sink) }),
  });

  function connect({ roomId, participant, room }: RoomSession, after: bigint | undefined, sink: Sink) {
    const last = relay.state().get(roomId);
    if (last) {
      sink.send(frame(last));
      return sink.end('over');
    }
    const greeting = connected(roomId, participant.id, room.expiresAt);
    const until = { at: room.expiresAt, message: expired(roomId) };
    relay.connect({ keys: [roomId], greeting, until, ...(after === undefined ? {} : { after }) }, sink);
  }

  return [
    create,
    invite,
    join,
    state,
    post,
    burn('POST', '/rooms/:roomId/burn'),
    burn('DELETE', '/rooms/:roomId'),
    events,
    health,
  ];
}

const health = route({
  method: 'GET',
  path: '/health',
  summary: 'Says OK',
  answers: { 200: { description: 'OK', type: 'text/plain' } },
  handle: () => ({ status: 200, text: 'OK' }),
});

const newcomer = ({ participantName: name, signingPublicKey }: Newcomer) => ({
  signingPublicKey,
  ...(name === undefined ? {} : { name }),
});

const as = ({ participant }: RoomSession, context: Request['context']) => context(participant.id, participant.id);

const answer = (status: number, done: CommandResult<unknown> | Rejection): Answer =>
  isRejection(done) ? done : { status, ...done };
