/** Routes of channels. */
import type { Channels } from '../../../application/chat/channels/channels.js';
import { type Route, route } from '../server/route.js';
import { streamedList } from '../server/streamed-json.js';
import { type AuthGuards, access, contextFor, contextWithQuota } from './auth.js';
import * as schemas from './message-schemas.js';
import type { ChatQuotas } from './quotas.js';
import { success } from './schemas.js';

const NO_CHANNEL = { description: 'There is no such channel, or the caller can not see it' };
const NOT_OWNER = { description: 'The caller did not create the channel' };

export function channelRoutes(guards: AuthGuards, channels: Channels, quotas: ChatQuotas): readonly Route[] {
  const user = access(guards.user, ['channels']);
  return [
    route({
      ...user,
      method: 'GET',
      path: '/channels',
      summary: 'The channels the caller can see, by creation time',
      answers: {
        200: { description: 'The channels; private ones for members and admins only', schema: schemas.channels },
      },
      async handle({ ifPosition }, caller) {
        const { channels: visible, position } = await channels.list(caller, ifPosition);
        return streamedList('channels', visible, { position });
      },
    }),
    route({
      ...user,
      method: 'POST',
      path: '/channels',
      summary: 'Create a channel',
      body: schemas.createChannelBody,
      bodyLimit: schemas.MESSAGE_LIMIT,
      answers: {
        200: { description: 'Created; the creator is a member', schema: schemas.oneChannel },
        400: {
          description:
            'The name is taken, blank or too long, a member is not a user, or there are too many channels or members',
        },
      },
      quota: quotas.changes,
      handle: (request, caller) => channels.create(caller, request.body, contextWithQuota(caller, request)),
    }),
    route({
      ...user,
      method: 'PUT',
      path: '/channels/:channelId',
      summary: 'Change a channel',
      description: 'Omitted fields stay unchanged; `members` replaces all members but the creator.',
      body: schemas.updateChannelBody,
      bodyLimit: schemas.MESSAGE_LIMIT,
      answers: {
        200: { description: 'The channel', schema: schemas.oneChannel },
        400: {
          description:
            'No field is given; the name is taken, blank or too long; a member is not a user; there are too many members',
        },
        403: NOT_OWNER,
        404: NO_CHANNEL,
      },
      quota: quotas.changes,
      handle: (request, caller) =>
        channels.update(caller, request.params.channelId, request.body, contextWithQuota(caller, request)),
    }),
    route({
      ...user,
      method: 'DELETE',
      path: '/channels/:channelId',
      summary: 'Delete a channel with all its messages',
      body: schemas.emptyBody,
      answers: { 200: { description: 'Deleted', schema: success }, 403: NOT_OWNER, 404: NO_CHANNEL },
      handle: (request, caller) => channels.remove(caller, request.params.channelId, contextFor(caller, request)),
    }),
  ];
}
