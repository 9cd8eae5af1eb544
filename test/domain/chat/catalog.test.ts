/** The event catalog of the chat: emitted events match their schemas, and stored versions stay readable. */
import { audit } from '../../../domain/chat/audit-log.js';
import { catalog } from '../../../domain/chat/catalog.js';
import { channels } from '../../../domain/chat/channels.js';
import { conversation } from '../../../domain/chat/conversation.js';
import { conversationSubject, isDirect } from '../../../domain/chat/events/channels.js';
import type { SessionSecret } from '../../../domain/chat/events/sign-in.js';
import { file, UNATTACHED_MS } from '../../../domain/chat/file.js';
import { message } from '../../../domain/chat/message.js';
import { password } from '../../../domain/chat/password.js';
import { presence } from '../../../domain/chat/presence.js';
import { roster } from '../../../domain/chat/roster.js';
import { server } from '../../../domain/chat/server-settings.js';
import type { DomainEvent } from '../../../domain/shared/decider.js';
import { oneTimeLinks } from '../../../domain/shared/one-time-links.js';
import { sessions } from '../../../domain/shared/sessions.js';
import { specifyCatalog } from '../../support/catalog-spec.js';
import {
  asUser,
  attach,
  BOB,
  closeThread,
  createChannel,
  createWebhook,
  DIRECT,
  deleteChannel,
  deleteMessage,
  deleteReply,
  deleteWebhook,
  editMessage,
  editReply,
  eraseChannel,
  pin,
  postMessage,
  postReply,
  react,
  review,
  runMessages,
  startConversation,
  unpin,
  unreact,
  updateChannel,
  upload,
} from '../../support/chat-fixtures.js';
import {
  add,
  admin,
  changeRole,
  eraseUser,
  leave,
  MINUTE,
  NOON,
  open,
  recordMail,
  refresh,
  register,
  remove,
  rename,
  requestLink,
  setPassword,
  spendLink,
} from '../../support/chat-user-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const emitted: readonly DomainEvent[] = [
  ...specOf(roster).run(
    [
      add('bob'),
      register('carol'),
      rename('bob', 'Bob'),
      changeRole('bob', true),
      remove('bob'),
      leave('carol'),
      eraseUser('bob'),
    ],
    [admin('ada')],
  ).events,
  ...specOf(sessions<SessionSecret>('chat')).run([
    open('one'),
    refresh('one', 0, NOON + MINUTE),
    { type: 'EndSession', userId: 'ada', sessionId: 'one', reason: 'logout', now: NOON + MINUTE },
  ]).events,
  ...specOf(password).run([setPassword()]).events,
  ...specOf(oneTimeLinks('chat')).run([
    requestLink('one'),
    recordMail('one', true),
    spendLink('one'),
    requestLink('two', NOON, { userId: undefined, email: 'eve@example.org' }),
    recordMail('two', false),
  ]).events,
  ...specOf(channels).run([
    createChannel('General', { members: [BOB] }),
    updateChannel({ name: 'Lobby', isPrivate: true }),
    createWebhook('Builds'),
    deleteWebhook(),
    deleteChannel(),
    eraseChannel(),
  ]).events,
  ...runMessages([
    postMessage('hello'),
    editMessage('hi'),
    pin(),
    unpin(),
    react('+1'),
    unreact('+1'),
    postReply('yes'),
    editReply('m.yes', 'no'),
    deleteReply('m.yes', asUser(BOB)),
    closeThread(),
    deleteMessage(),
  ]).events,
  ...specOf(message).run([postMessage('hello', { channelId: DIRECT })]).events,
  ...specOf(conversation).run([startConversation()]).events,
  { type: 'RequestRecorded', data: { recordedAt: NOON } },
  ...specOf(file).run([
    upload(),
    attach('m'),
    attach('n'),
    review([], NOON + 2 * UNATTACHED_MS),
    review(['m', 'n'], NOON + 2 * UNATTACHED_MS),
  ]).events,
  ...specOf(presence).run([{ type: 'SetStatus', userId: 'ada', status: 'away', now: NOON }]).events,
  ...specOf(audit).run([
    {
      type: 'SignInLimitReached',
      data: { addressId: 'a', limit: 'network', userId: 'bob', reachedAt: NOON },
    },
    { type: 'Exported', data: { by: 'ada', exportedAt: NOON } },
    {
      type: 'ActKept',
      data: {
        factId: 'an event',
        position: '17',
        doneAt: NOON,
        action: 'reply.delete',
        actorId: 'ada',
        targetType: 'reply',
        targetId: 'm.yes',
        metadata: { channelId: 'general', threadId: 'm', author: 'bob' },
      },
    },
  ]).events,
  ...specOf(server).run([{ type: 'RenameServer', name: 'Office', by: 'ada', now: NOON }]).events,
];

const OPTIONAL: { readonly [type: string]: readonly string[] } = {
  UserAdded: ['by'],
  ChannelUpdated: ['isPrivate'],
  SignInLimitReached: ['userId'],
  LinkRequested: ['userId'],
};

interface About {
  readonly channelId?: unknown;
  readonly userId?: unknown;
  readonly addressId?: unknown;
  readonly uploadedBy?: unknown;
}

const subjectOf = ({ channelId, userId, addressId, uploadedBy }: About) => {
  // An address without a user is encrypted with the key of the day on which the link expires.
  if (addressId !== undefined) return `chat.links-${Math.floor((NOON + 15 * MINUTE) / 86_400_000)}`;
  if (uploadedBy !== undefined) return `chat.user-${uploadedBy}`;
  if (channelId === undefined) return userId === undefined ? 'chat.settings-main' : `chat.user-${userId}`;
  return isDirect(`${channelId}`) ? conversationSubject(`${channelId}`) : `chat.channel-${channelId}`;
};

describe('the event catalog of the chat', () =>
  specifyCatalog({
    catalog,
    emitted,
    subjectOf,
    ending: ['UserErased', 'ChannelDeleted', 'FileDiscarded'],
    optional: OPTIONAL,
  }));
