/** The routes of channels. */
import type { Channels } from '../../../application/chat/channels/channels.js';
import { type Route, route } from '../server/route.js';
import { streamedList } from '../server/streamed-list.js';
import { type AuthGuards, answer, contextFor, contextWithQuota } from './auth.js';
import * as schemas from './message-schemas.js';
import type { ChatQuotas } from './quotas.js';
import { success } from './schemas.js';

export interface ChannelDeps {
  readonly doors: AuthGuards;
  readonly channels: Channels;
  readonly quotas: Pick<ChatQuotas, 'changes'>;
}

const NO_CHANNEL = { description: 'There is no such channel, or it is not told to the caller' };
const NOT_THEIRS = { description: 'The caller sees the channel, and did not make it' };
const tags = ['channels'];

export function channelRoutes({ doors, channels, quotas }: ChannelDeps): readonly Route[] {
  const list = route({
    method: 'GET',
    path: '/channels',
    summary: 'The channels that the caller sees, by creation',
    tags,
    security: 'access',
    answers: { 200: { description: 'Private ones for members and admins only', schema: schemas.channels } },
    admit: doors.user,
    async handle({ ifPosition }, caller) {
      const { channels: theirs, position } = await channels.list(caller, ifPosition);
      return streamedList('channels', theirs, { position });
    },
  });

  const create = route({
    method: 'POST',
    path: '/channels',
    summary: 'Make a channel',
    tags,
    security: 'access',
    body: schemas.createChannelBody,
    bodyLimit: schemas.MESSAGE_LIMIT,
    answers: {
      200: { description: 'Made, its creator a member', schema: schemas.oneChannel },
      400: {
        description:
          'The name is taken, blank or too long, a member is no user, or there are too many channels, or members in them',
      },
    },
    admit: doors.user,
    quota: quotas.changes,
    handle: async (request, caller) =>
      answer(await channels.create(caller, request.body, contextWithQuota(caller, request))),
  });

  const update = route({
    method: 'PUT',
    path: '/channels/:channelId',
    summary: 'Change a channel',
    description: 'What is not given stays as it is; `members` replaces all but the creator.',
    tags,
    security: 'access',
    body: schemas.updateChannelBody,
    bodyLimit: schemas.MESSAGE_LIMIT,
    answers: {
      200: { description: 'The whole channel', schema: schemas.oneChannel },
      400: {
        description:
          'Nothing is given; the name is taken, blank or too long; a member is no user; there are too many in channels',
      },
      403: NOT_THEIRS,
      404: NO_CHANNEL,
    },
    admit: doors.user,
    quota: quotas.changes,
    handle: async (request, caller) =>
      answer(await channels.update(caller, request.params.channelId, request.body, contextWithQuota(caller, request))),
  });

  const remove = route({
    method: 'DELETE',
    path: '/channels/:channelId',
    summary: 'Delete a channel with all that was said in it',
    tags,
    security: 'access',
    body: schemas.emptyBody,
    answers: {
      200: { description: 'Nobody can read it any more', schema: success },
      403: NOT_THEIRS,
      404: NO_CHANNEL,
    },
    admit: doors.user,
    handle: async (request, caller) =>
      answer(await channels.remove(caller, request.params.channelId, contextFor(caller, request))),
  });

  return [list, create, update, remove];
}
