/** HTTP routes of the room service. */

import type { CommandResult } from '../../../application/command/index.js';
import { connected, type EndedRooms, expired } from '../../../application/rooms/audience.js';
import type { OpenRoom, RoomAuthenticator, RoomSession } from '../../../application/rooms/authenticate.js';
import type { RoomCommands } from '../../../application/rooms/commands.js';
import type { RoomQueries } from '../../../application/rooms/queries.js';
import { type DataOf, isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { Relay } from '../../realtime/relay/relay.js';
import { frame, type Sink } from '../../realtime/relay/sink.js';
import { type Answer, JSON_TYPE } from '../server/answer.js';
import type { RateLimit } from '../server/client-network.js';
import { type Admit, healthRoute, type Method, type Request, type Route, route } from '../server/route.js';
import * as schemas from './schemas.js';

export interface RoomsDeps {
  readonly authenticator: RoomAuthenticator;
  readonly commands: RoomCommands;
  readonly queries: RoomQueries;
  readonly relay: Relay<EndedRooms>;
  readonly limitCreates: RateLimit;
  readonly minTtlMs: number;
  readonly maxTtlMs: number;
}

type Newcomer = Omit<DataOf<typeof schemas.joinBody>, 'inviteToken'>;

type RoomRequest = Pick<Request<unknown, unknown, { readonly roomId: string }>, 'params' | 'bearer' | 'ifPosition'>;

const NOT_FOUND = { description: 'The room does not exist or has ended' };

const GUEST = 'rooms.guest';
const JSON_HEADERS = { 'Content-Type': JSON_TYPE };

export function roomsRoutes(deps: RoomsDeps): readonly Route[] {
  const { authenticator, commands, queries, relay, limitCreates, minTtlMs, maxTtlMs } = deps;

  const open: Admit<OpenRoom, RoomRequest> = ({ params, ifPosition }) => authenticator.open(params.roomId, ifPosition);
  const admit: Admit<RoomSession, RoomRequest> = ({ params, bearer, ifPosition }) =>
    authenticator.authenticate(params.roomId, bearer, ifPosition);

  const member = { security: 'session', admit } as const;

  const create = route({
    method: 'POST',
    path: '/rooms',
    summary: 'Create a room and join it',
    body: schemas.createBody,
    answers: {
      201: { description: 'The created room', schema: schemas.joinResult },
      404: { description: 'Repeated request; the room has ended since' },
    },
    quota: {
      perNetwork: limitCreates,
      rejected: 'rooms/too-many-rooms',
      description: 'Too many rooms were created from this address',
    },
    async handle({ body, address, context }) {
      const ttlMs = Math.min(Math.max(Math.trunc(body.ttlMs), minTtlMs), maxTtlMs);
      return created(await commands.create(newcomer(body), ttlMs, context(GUEST, address)));
    },
  });

  const invite = route({
    ...member,
    method: 'POST',
    path: '/rooms/:roomId/invites',
    summary: 'Create an invite for one participant',
    body: schemas.inviteBody,
    answers: {
      200: { description: 'The invite', schema: schemas.inviteResult },
      404: NOT_FOUND,
      409: { description: 'INVITE_EXISTS: the token belongs to another invite' },
      429: { description: 'The room has reached its maximum number of invites' },
    },
    handle: ({ body, context }, caller) => commands.invite(caller, body.inviteToken, contextOf(caller, context)),
  });

  const join = route({
    method: 'POST',
    path: '/rooms/:roomId/join',
    summary: 'Join a room with an invite, which can be used once',
    body: schemas.joinBody,
    answers: {
      201: { description: 'Joined', schema: schemas.joinResult },
      404: { description: 'The room does not exist or has ended; or INVITE_NOT_FOUND' },
      409: { description: 'ROOM_FULL' },
      410: { description: 'INVITE_USED' },
    },
    admit: open,
    handle: async ({ body, address, context }, { roomId }) =>
      created(await commands.join(roomId, body.inviteToken, newcomer(body), context(GUEST, address))),
  });

  const state = route({
    ...member,
    method: 'GET',
    path: '/rooms/:roomId/state',
    summary: 'Participants and messages of the room, oldest first',
    query: {
      type: 'object',
      properties: {
        after: { type: 'string', description: 'Message id; returns later messages, or all if it is unknown' },
      },
    },
    answers: { 200: { description: 'The room', schema: schemas.roomState }, 404: NOT_FOUND },
    async handle({ query, ifPosition }, caller) {
      const found = await queries.state(caller, query.after, ifPosition);
      if (isRejection(found)) return found;
      const { json, ...consistency } = found;
      return { status: 200, text: json, headers: JSON_HEADERS, ...consistency };
    },
  });

  const post = route({
    ...member,
    method: 'POST',
    path: '/rooms/:roomId/messages',
    summary: 'Post an encrypted, signed message',
    description: 'An Idempotency-Key is valid while its message is retained: the newest 1000.',
    body: schemas.envelopeBody,
    answers: {
      201: { description: 'Stored; delivery to the participants has begun', schema: schemas.postResult },
      404: NOT_FOUND,
      409: { description: 'MESSAGE_REPLAYED: the envelope was posted before' },
      413: { description: 'The body, or a field of the envelope, is too large' },
      429: { description: 'Too many messages per minute, by the participant or in the room' },
    },
    async handle({ body, context }, caller) {
      const result = await commands.post(caller, body, contextOf(caller, context));
      return isRejection(result) ? result : { status: 201, body: { message: result.body }, position: result.position };
    },
  });

  const burn = (method: Method, path: '/rooms/:roomId/burn' | '/rooms/:roomId') =>
    route({
      ...member,
      method,
      path,
      summary: 'Burn the room: erase it for everybody',
      body: schemas.burnBody,
      answers: {
        200: { description: 'The room can no longer be read', schema: schemas.success },
        404: NOT_FOUND,
      },
      previousAnswer: ({ params, bearer, context }) =>
        commands.findBurnResult(params.roomId, context(GUEST, bearer ?? '')),
      handle: ({ bearer, context }, { roomId, participant: { id } }) =>
        commands.burn(roomId, id, context(id, bearer ?? '')),
    });

  const events = route({
    method: 'GET',
    path: '/rooms/:roomId/events',
    summary: 'Events of the room, as server-sent events',
    description:
      'Each is `{type, payload}`: `CONNECTED`, `NEW_MESSAGE`, `PARTICIPANT_JOINED`, `ROOM_BURNED`, `ROOM_EXPIRED`; ' +
      'the last two end the stream. Resume with `Last-Event-ID` or with the `Position` of the state. After too long ' +
      'a pause the stream sends `RESET`: read the state again.',
    security: 'session',
    query: {
      type: 'object',
      properties: {
        token: { type: 'string', description: 'Session token, for clients that cannot send headers' },
        lastEventId: { type: 'string' },
      },
    },
    answers: { 200: { description: 'The stream', type: 'text/event-stream' }, 404: NOT_FOUND },
    admit: ({ params, bearer, query, ifPosition }) => {
      const { token } = query;
      return authenticator.authenticate(
        params.roomId,
        bearer ?? (typeof token === 'string' ? token : undefined),
        ifPosition,
      );
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
    relay.connect({ keys: [roomId], greeting, until, after }, sink);
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
    healthRoute,
  ];
}

const newcomer = ({ participantName: name, signingPublicKey }: Newcomer) => ({ signingPublicKey, name });

const contextOf = ({ participant }: RoomSession, context: Request['context']) =>
  context(participant.id, participant.id);

const created = (result: CommandResult<unknown> | Rejection): Answer =>
  isRejection(result) ? result : { status: 201, ...result };
