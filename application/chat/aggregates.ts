/** Aggregates of the chat: deciders with their stream options; seeding and erasing what is cached of them. */
import { audit } from '../../domain/chat/audit-log.js';
import { type ChatEvent, catalog } from '../../domain/chat/catalog.js';
import { CHANNELS, channels } from '../../domain/chat/channels.js';
import { conversation } from '../../domain/chat/conversation.js';
import type { SessionSecret } from '../../domain/chat/events/sign-in.js';
import { file, fileNotFound } from '../../domain/chat/file.js';
import { isPost, message, messageNotFound } from '../../domain/chat/message.js';
import { password } from '../../domain/chat/password.js';
import { presence } from '../../domain/chat/presence.js';
import { ROSTER, roster } from '../../domain/chat/roster.js';
import { server } from '../../domain/chat/server-settings.js';
import { thread } from '../../domain/chat/thread.js';
import { oneTimeLinks, requestRecord, SESSION_EVENTS, sessionStreamOf, sessions } from '../../domain/shared/index.js';
import { type AggregateStore, aggregatesOf } from '../command/index.js';
import { aggregateAt, handleByType } from '../subscription/index.js';
import type { ChatState } from './audience/state.js';

const aggregate = aggregatesOf(catalog);

export const rosterAggregate = aggregate(roster);
export const passwordAggregate = aggregate(password);
export const linksAggregate = aggregate(oneTimeLinks(catalog.service), { decrypts: 'none', maxAge: true });
/** States of OAuth sign-ins, each of which can be used once. */
export const spentStateAggregate = aggregate(requestRecord, { creates: () => true, maxAge: true });
export const sessionStream = sessionStreamOf(catalog.service);
export const sessionAggregate = aggregate(sessions<SessionSecret>(catalog.service), {
  maxCount: SESSION_EVENTS,
  maxAge: true,
});
export const serverAggregate = aggregate(server);
export const channelsAggregate = aggregate(channels);
export const messageAggregate = aggregate(message, {
  creates: isPost,
  termination: { rejection: messageNotFound, isEnded: ({ status }) => status === 'deleted' },
});
export const threadAggregate = aggregate(thread, {
  decrypts: 'none',
  termination: { rejection: messageNotFound, isEnded: ({ isClosed }) => isClosed },
});
export const conversationAggregate = aggregate(conversation);
/** The stream starts with the upload. */
export const fileAggregate = aggregate(file, {
  creates: ({ type }) => type === 'UploadFile',
  termination: { rejection: fileNotFound, isEnded: ({ isDiscarded }) => isDiscarded },
});
export const presenceAggregate = aggregate(presence, { maxCount: 1 });
export const auditAggregate = aggregate(audit);

/** Seeds the cache with the relay's state: loading an aggregate then reads only what the relay has not received yet. */
export function seedAggregatesFromRelay(
  { seed }: Pick<AggregateStore, 'seed'>,
  { roster, channels, reached }: ChatState,
): void {
  for (const [stream, state] of Object.entries({ [ROSTER]: roster, [CHANNELS]: channels })) {
    const at = reached[stream];
    if (at && at.revision >= 0) seed(stream, aggregateAt(state, at));
  }
}

/** Creates the handler that drops erased data from the relay's buffer and from cached aggregates. */
export function forgetErased(
  aggregates: Pick<AggregateStore, 'forget' | 'seed'>,
  relay: { state(): ChatState; clear(): void },
) {
  // The relay's state no longer has the erased data.
  const reseed = () => seedAggregatesFromRelay(aggregates, relay.state());
  return handleByType<ChatEvent<'UserErased' | 'ChannelDeleted'>>({
    UserErased({ data }) {
      relay.clear();
      aggregates.forget(sessionStream(data.userId));
      reseed();
    },
    ChannelDeleted: reseed,
  });
}
